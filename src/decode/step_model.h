#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sampan::decode {

/// Source sentences as token ids, one vector a sentence, end of sentence included, no padding.
using SourceBatch = std::vector<std::vector<std::int64_t>>;

/// The model as the search sees it: encode some sentences, then advance rows of targets token by
/// token. A row is one target under construction; after `start` there is one row a sentence, in order.
///
/// One object serves one search at a time and is not thread-safe; objects of one loaded model may
/// work in different threads at once.
class StepModel {
 public:
  virtual ~StepModel() = default;

  /// Entries of the target vocabulary, the width of the logits.
  virtual std::int64_t vocab_size() const = 0;
  /// Most positions of a target, or of a source sentence.
  virtual std::int64_t max_positions() const = 0;

  /// Encodes the sentences and forgets what was before: rows() == sources.size(), past length 0.
  virtual void start(const SourceBatch& sources) = 0;

  /// Feeds every row `length` tokens and returns the logits behind each of them.
  /// `tokens` is [rows, length], the result [rows, length, vocab_size], valid and writable until the
  /// next call of this object. The past of every row grows by `length`.
  virtual std::span<float> step(std::span<const std::int64_t> tokens, std::int64_t length) = 0;

  /// Row i of the new state continues old row `origins[i]`; rows may repeat, move and vanish.
  /// Keeping a row in place, or its sentence, costs no copy where the runtime allows.
  virtual void select(std::span<const std::int64_t> origins) = 0;

  virtual std::int64_t rows() const = 0;
};

}  // namespace sampan::decode
