#include "tune/calibration_text.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/utf8.h"
#include "tensor/npz.h"
#include "tune/text_lines.h"

namespace sampan::tune {
namespace {

/// Takes sentences until there are enough.
class Collection {
 public:
  explicit Collection(const CalibrationTextOptions& options) : options_(options) {}

  bool is_full() const {
    return options_.most_sentences != 0 && sentences_.size() >= options_.most_sentences;
  }
  void add(std::vector<std::int64_t> ids) {
    const bool fits = options_.max_positions == 0 || std::ssize(ids) <= options_.max_positions;
    if (!ids.empty() && fits && !is_full()) sentences_.push_back(std::move(ids));
  }
  decode::SourceBatch take() && {
    if (sentences_.empty())
      base::fail(ErrorCode::kInvalidData,
                 "{}: has no sentence to calibrate with; give a line of text for each",
                 options_.file.string());
    return std::move(sentences_);
  }

 private:
  const CalibrationTextOptions& options_;
  decode::SourceBatch sentences_;
};

void add_lines(const CalibrationTextOptions& options, const text::Tokenizer& tokenizer,
               Collection& sentences) {
  for (std::string& line : read_lines(options.file)) {
    if (sentences.is_full()) return;
    base::replace_invalid_utf8(line);
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    sentences.add(tokenizer.encode(line, options.target_language));
  }
}

template <typename Element>
std::vector<std::int64_t> widened(const tensor::Array& array) {
  std::vector<std::int64_t> values(array.data.size() / sizeof(Element));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Element value{};
    std::memcpy(&value, array.data.data() + i * sizeof value, sizeof value);
    values[i] = static_cast<std::int64_t>(value);
  }
  return values;
}

/// Integers or truth values of an array [sentence, position].
std::vector<std::int64_t> integers_of(const tensor::Array& array, const char* name,
                                      const CalibrationTextOptions& options) {
  if (array.shape.size() == 2) switch (array.dtype) {
      case tensor::DType::kI64:
        return widened<std::int64_t>(array);
      case tensor::DType::kI32:
        return widened<std::int32_t>(array);
      case tensor::DType::kBool:
      case tensor::DType::kU8:
        return widened<std::uint8_t>(array);
      default:
        break;
    }
  base::fail(ErrorCode::kInvalidData,
             "{}: '{}' is {} {}; it must be int64, int32 or bool [sentence, position]",
             options.file.string(), name, tensor::name_of(array.dtype),
             tensor::to_string(array.shape));
}

void add_arrays(const CalibrationTextOptions& options, Collection& sentences) {
  const tensor::NpzFile file(options.file);
  const tensor::Array id_array = file.read("input_ids");
  const tensor::Array mask_array = file.read("attention_mask");
  const std::vector<std::int64_t> ids = integers_of(id_array, "input_ids", options);
  const std::vector<std::int64_t> mask = integers_of(mask_array, "attention_mask", options);
  const tensor::Shape& shape = id_array.shape;
  if (mask_array.shape != shape)
    base::fail(ErrorCode::kInvalidData, "{}: input_ids are {} and attention_mask is {}",
               options.file.string(), tensor::to_string(shape),
               tensor::to_string(mask_array.shape));
  const auto width = static_cast<std::size_t>(shape[1]);
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape[0]); ++row) {
    std::vector<std::int64_t> sentence;
    for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
      if (mask[i] == 0) continue;
      if (ids[i] < 0)
        base::fail(ErrorCode::kInvalidData, "{}: input_ids has {}; ids are not negative",
                   options.file.string(), ids[i]);
      sentence.push_back(ids[i]);
    }
    sentences.add(std::move(sentence));
  }
}

}  // namespace

decode::SourceBatch read_calibration_text(const CalibrationTextOptions& options,
                                          const text::Tokenizer& tokenizer) {
  Collection sentences(options);
  if (options.file.extension() == ".npz")
    add_arrays(options, sentences);
  else
    add_lines(options, tokenizer, sentences);
  return std::move(sentences).take();
}

}  // namespace sampan::tune
