#include "text/vocabulary.h"

#include <bit>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "base/fail.h"
#include "base/foreign_content.h"
#include "base/mapped_file.h"
#include "base/printable.h"
#include "text/id_scanner.h"

namespace sampan::text {
namespace {

constexpr std::size_t kMaxVocabularyBytes = std::size_t{256} << 20;

}  // namespace

// Takes nlohmann's events as well as plain members: a document tree is never built.
class VocabularyBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  VocabularyBuilder(Vocabulary& vocabulary, std::size_t json_size)
      : vocabulary_(vocabulary), id_limit_(json_size) {
    vocabulary_.letters_.reserve(json_size / 2);
    vocabulary_.entries_.reserve(json_size / 24);
  }

  const std::string& problem() const { return problem_; }

  bool add(std::string_view piece, std::uint64_t id) {
    if (id >= id_limit_)
      return stop(fmt::format("id {} of '{}' is beyond any vocabulary of this size", id,
                              base::printable(piece)));
    vocabulary_.entries_.push_back(
        {.offset = static_cast<std::uint32_t>(vocabulary_.letters_.size()),
         .length = static_cast<std::uint32_t>(piece.size()),
         .id = static_cast<std::uint32_t>(id)});
    vocabulary_.letters_ += piece;
    return true;
  }

  bool start_object(std::size_t) override {
    if (depth_++ != 0) return refuse("an object");
    return true;
  }
  bool end_object() override { return true; }
  bool key(string_t& piece) override {
    piece_ = std::move(piece);
    return true;
  }
  bool number_unsigned(number_unsigned_t id) override {
    return depth_ == 0 ? refuse("a number") : add(piece_, id);
  }
  bool number_integer(number_integer_t value) override {
    return stop(fmt::format("'{}' has the id {}", base::printable(piece_), value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return stop(fmt::format("'{}' has the id {}", base::printable(piece_), base::printable(text)));
  }
  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool string(string_t&) override { return refuse("a text"); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_array(std::size_t) override { return refuse("an array"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return stop(fmt::format("not valid JSON at byte {}", position));
  }

  // Fills both indices; false if a piece or an id comes twice.
  bool index() {
    std::uint32_t largest = 0;
    for (const auto& entry : vocabulary_.entries_) largest = std::max(largest, entry.id);
    vocabulary_.by_id_.assign(vocabulary_.entries_.empty() ? 0 : std::size_t{largest} + 1, 0);
    vocabulary_.slots_.assign(std::bit_ceil(2 * vocabulary_.entries_.size() + 2), 0);
    for (std::uint32_t number = 1; number <= vocabulary_.entries_.size(); ++number) {
      const auto& entry = vocabulary_.entries_[number - 1];
      const std::string_view piece = vocabulary_.text_of(entry);
      std::uint32_t& slot = vocabulary_.slots_[vocabulary_.slot_of(piece)];
      if (slot != 0) return stop(fmt::format("'{}' is given twice", base::printable(piece)));
      slot = number;
      std::uint32_t& owner = vocabulary_.by_id_[entry.id];
      if (owner != 0)
        return stop(
            fmt::format("id {} belongs to '{}' and to '{}'", entry.id,
                        base::printable(vocabulary_.text_of(vocabulary_.entries_[owner - 1])),
                        base::printable(piece)));
      owner = number;
    }
    return true;
  }

 private:
  bool refuse(std::string_view found) {
    return stop(
        piece_.empty() && depth_ == 0
            ? fmt::format("{} where an object of piece to id is due", found)
            : fmt::format("{} where the id of '{}' is due", found, base::printable(piece_)));
  }
  bool stop(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  Vocabulary& vocabulary_;
  std::size_t id_limit_;
  int depth_ = 0;
  std::string piece_;
  std::string problem_;
};

Vocabulary Vocabulary::parse(std::string_view json, const std::filesystem::path& path) {
  base::refuse_foreign_content(std::as_bytes(std::span(json)), path);
  Vocabulary vocabulary;
  VocabularyBuilder builder(vocabulary, json.size());
  bool read = scan_ids(
      json, [&](std::string_view piece, std::uint64_t id) { return builder.add(piece, id); });
  if (!read) {  // the library knows what is wrong, or that nothing is
    vocabulary = {};
    read = nlohmann::json::sax_parse(json, &builder);
  }
  if (!read || !builder.index())
    base::fail(ErrorCode::kInvalidData,
               "{}: {}; take the vocabulary file of the original checkpoint", path.string(),
               builder.problem());
  return vocabulary;
}

Vocabulary Vocabulary::read(const std::filesystem::path& path) {
  return parse(base::read_file(path, kMaxVocabularyBytes), path);
}

std::size_t Vocabulary::slot_of(std::string_view piece) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(piece)&mask;
  while (slots_[slot] != 0 && text_of(entries_[slots_[slot] - 1]) != piece)
    slot = (slot + 1) & mask;
  return slot;
}

std::optional<std::int64_t> Vocabulary::find(std::string_view piece) const noexcept {
  const std::uint32_t number = slots_[slot_of(piece)];
  if (number == 0) return std::nullopt;
  return std::int64_t{entries_[number - 1].id};
}

std::string_view Vocabulary::piece(std::int64_t id) const noexcept {
  if (id < 0 || id >= id_limit() || by_id_[static_cast<std::size_t>(id)] == 0) return {};
  return text_of(entries_[by_id_[static_cast<std::size_t>(id)] - 1]);
}

std::int64_t id_of(const Vocabulary& vocabulary, std::string_view token,
                   const std::filesystem::path& path) {
  const std::optional<std::int64_t> id = vocabulary.find(token);
  if (!id)
    base::fail(ErrorCode::kInvalidData,
               "{}: lacks the special token '{}'; take the vocabulary file of the original "
               "checkpoint",
               path.string(), base::printable(token));
  return *id;
}

bool is_language_tag(std::string_view piece) {
  return piece.size() > 4 && piece.starts_with(">>") && piece.ends_with("<<");
}

}  // namespace sampan::text
