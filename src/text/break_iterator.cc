#include "text/break_iterator.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>

#include "base/fail.h"

namespace sampan::text {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

void check(UErrorCode status, const char* action) {
  if (U_FAILURE(status))
    base::fail(ErrorCode::kInternal, "ICU cannot {}: {}; check that libicu is whole", action,
               u_errorName(status));
}

using TextPointer = std::unique_ptr<UText, decltype(&utext_close)>;

}  // namespace

struct BreakIterator::Impl {
  std::string language;
  std::unique_ptr<icu::BreakIterator> iterator;
};

BreakIterator::BreakIterator(Kind kind, std::string_view language)
    : impl_(std::make_unique<Impl>()) {
  const icu::Locale locale = icu::Locale::createCanonical(std::string(language).c_str());
  impl_->language = locale.getLanguage();
  UErrorCode status = U_ZERO_ERROR;
  impl_->iterator.reset(kind == Kind::kSentence
                            ? icu::BreakIterator::createSentenceInstance(locale, status)
                            : icu::BreakIterator::createWordInstance(locale, status));
  check(status, "load its rules for boundaries");
}

BreakIterator::~BreakIterator() = default;

const std::string& BreakIterator::language() const { return impl_->language; }

std::vector<std::size_t> BreakIterator::boundaries(std::string_view text) {
  if (text.size() > kMaxBytes)
    base::fail(ErrorCode::kResourceExhausted,
               "a line of {} bytes is over the {} that are split at once; break it into lines",
               text.size(), kMaxBytes);
  UErrorCode status = U_ZERO_ERROR;
  const TextPointer utf8(
      utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &status),
      &utext_close);
  check(status, "open a text");
  impl_->iterator->setText(utf8.get(), status);
  check(status, "read a text");
  std::vector<std::size_t> found;
  for (std::int32_t end = impl_->iterator->next(); end != icu::BreakIterator::DONE;
       end = impl_->iterator->next())
    found.push_back(static_cast<std::size_t>(end));
  return found;
}

}  // namespace sampan::text
