#include "text/spm_model.h"

#include <sentencepiece_processor.h>

#include <exception>

#include "base/fail.h"
#include "base/printable.h"

// Exported by every libsentencepiece from 0.1.97 on, though the older headers do not declare it.
namespace sentencepiece::logging {
void SetMinLogLevel(int level);
}

namespace sampan::text {
namespace {

// The library writes remarks to stderr; what matters reaches us as a status.
void keep_sentencepiece_quiet() {
  static const bool done = [] {
    constexpr int kFatalOnly = 3;
    sentencepiece::logging::SetMinLogLevel(kFatalOnly);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

SpmModel::SpmModel(std::string_view bytes, const std::filesystem::path& path)
    : processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  keep_sentencepiece_quiet();
  std::string problem;
  try {
    const auto status = processor_->LoadFromSerializedProto(bytes);
    if (!status.ok()) problem = status.message();
  } catch (const std::exception& error) {
    problem = error.what();  // the double array's builder throws
  }
  if (!problem.empty())
    base::fail(ErrorCode::kInvalidData,
               "{}: SentencePiece refuses it: {}; take the .spm file of the original checkpoint",
               path.string(), base::printable(problem));
}

SpmModel::~SpmModel() = default;

std::vector<std::string> SpmModel::encode(std::string_view text) const {
  if (text.size() > kMaxTextBytes)
    base::fail(ErrorCode::kResourceExhausted,
               "a text of {} bytes is over the {} that are tokenized at once; split it",
               text.size(), kMaxTextBytes);
  std::vector<std::string> pieces;
  const auto status = processor_->Encode(text, &pieces);
  if (!status.ok())
    base::fail(ErrorCode::kInternal, "SentencePiece cannot cut a text of {} bytes: {}; report it",
               text.size(), status.message());
  return pieces;
}

}  // namespace sampan::text
