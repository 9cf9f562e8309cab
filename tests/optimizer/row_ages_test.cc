// The decoder graph of an optimised package takes rows of different age in one step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "package/fused_layout.h"
#include "sampan/exporter.h"
#include "sampan/optimizer.h"
#include "session/graph_runner.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan {
namespace {

namespace fused = package::fused;
using session::GraphRunner;
using session::NamedTensor;
using Ids = std::vector<std::int64_t>;
using Floats = std::vector<float>;

constexpr std::int64_t kWidth = 256;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kHeadDim = 64;
constexpr std::size_t kCaches = 4;  // keys and values of two layers

NamedTensor ids(std::string name, tensor::Shape shape, Ids values) {
  return {std::move(name), std::move(shape), std::move(values)};
}

/// Rows of one step and what is behind them.
struct Step {
  std::vector<Ids> tokens;       ///< [row][length], all of one length
  Ids past_lengths;              ///< [row]
  std::vector<Floats> caches;    ///< [tensor], [row, head, past, head_dim]
  std::int64_t past_extent = 0;  ///< of the caches' third axis
  std::vector<Floats> cross;     ///< [tensor], [row, head, source, head_dim]
};

class RowAgesTest : public testing::Test {
 protected:
  RowAgesTest() {
    export_checkpoint(std::string(kSourceFolder) + "/models/tatoeba-en-zh", folder_ / "portable");
    optimize_package(folder_ / "portable", folder_ / "fused");
    session::SessionOptions options;
    options.intra_op_threads = 1;
    options.optimization_level = session::OptimizationLevel::kBasic;
    encoder_ = std::make_unique<GraphRunner>(folder_ / "fused/encoder_model.onnx", options);
    decoder_ = std::make_unique<GraphRunner>(folder_ / "fused/decoder_model.onnx", options);
  }

  /// Cross-attention tensors of one sentence.
  std::vector<Floats> encode(const Ids& source) const {
    const std::int64_t length = std::ssize(source);
    Ids places(source.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
    const std::vector<NamedTensor> inputs = {ids(fused::kInputIds, {1, length}, source),
                                             ids(fused::kPositions, {length}, places),
                                             ids(fused::kSourceLengths, {1}, {length})};
    const std::vector<std::string> names = {fused::kCrossAttention};
    const auto all = std::get<Floats>(encoder_->run(inputs, names).front().data);
    std::vector<Floats> tensors;
    const std::size_t each = all.size() / kCaches;
    for (std::size_t i = 0; i < kCaches; ++i)
      tensors.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i * each),
                           all.begin() + static_cast<std::ptrdiff_t>((i + 1) * each));
    return tensors;
  }

  /// Logits, then the caches.
  std::vector<Floats> run(const Step& step) const {
    const std::int64_t rows = std::ssize(step.tokens);
    const std::int64_t length = std::ssize(step.tokens.front());
    Ids tokens, positions, last, source_lengths;
    std::int64_t total = 0;
    const std::int64_t source = std::ssize(step.cross.front()) / rows / kWidth;
    for (std::size_t row = 0; row < step.tokens.size(); ++row) {
      for (std::int64_t i = 0; i < length; ++i) {
        tokens.push_back(step.tokens[row][static_cast<std::size_t>(i)]);
        positions.push_back(step.past_lengths[row] + i);
      }
      last.push_back(step.past_lengths[row] + length - 1);
      total = std::max(total, last.back() + 1);
      source_lengths.push_back(source);
    }
    std::vector<NamedTensor> inputs = {ids(fused::kInputIds, {rows, length}, tokens),
                                       ids(fused::kPositions, {rows, length}, positions),
                                       ids(fused::kRowShape, {3}, {rows, length, kWidth}),
                                       ids(fused::kQueryShape, {3}, {rows, length, kWidth}),
                                       ids(fused::kLastPositions, {rows}, last),
                                       ids(fused::kTotalLength, {1}, {total}),
                                       ids(fused::kSourceLengths, {rows}, source_lengths)};
    std::vector<std::string> outputs = {fused::kLogits};
    for (std::size_t i = 0; i < kCaches; ++i) {
      const char* part = fused::kParts[i % 2];
      inputs.push_back({fused::layer_tensor(fused::kPast, i / 2, part),
                        {rows, kHeads, step.past_extent, kHeadDim},
                        step.caches.empty() ? Floats() : step.caches[i]});
      inputs.push_back({fused::layer_tensor(fused::kCross, i / 2, part),
                        {rows, kHeads, source, kHeadDim},
                        step.cross[i]});
      outputs.push_back(fused::layer_tensor(fused::kPresent, i / 2, part));
    }
    std::vector<Floats> results;
    for (const NamedTensor& output : decoder_->run(inputs, outputs))
      results.push_back(std::get<Floats>(output.data));
    return results;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<GraphRunner> encoder_;
  std::unique_ptr<GraphRunner> decoder_;
};

/// The caches of one row with `extent` positions for each head where there were `length`; what is
/// new holds a number that would be seen.
Floats widened(const Floats& cache, std::int64_t length, std::int64_t extent) {
  Floats wide;
  for (std::int64_t head = 0; head < kHeads; ++head) {
    const auto begin = cache.begin() + head * length * kHeadDim;
    wide.insert(wide.end(), begin, begin + length * kHeadDim);
    wide.resize(static_cast<std::size_t>((head + 1) * extent * kHeadDim), 9.0F);
  }
  return wide;
}

Floats joined(Floats first, const Floats& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST_F(RowAgesTest, rows_of_different_age_get_what_they_get_alone) {
  const auto cross_old = encode({17, 305, 42, 0});
  const auto cross_young = encode({1200, 6, 7, 0});
  const auto old_past = run({{{9820, 11, 12}}, {0}, {}, 0, cross_old});
  const auto young_past = run({{{9820}}, {0}, {}, 0, cross_young});
  const std::vector<Floats> old_caches(old_past.begin() + 1, old_past.end());
  const std::vector<Floats> young_caches(young_past.begin() + 1, young_past.end());
  const Floats old_logits = run({{{13}}, {3}, old_caches, 3, cross_old}).front();
  const Floats young_logits = run({{{21}}, {1}, young_caches, 1, cross_young}).front();

  Step both{{{13}, {21}}, {3, 1}, {}, 3, {}};
  for (std::size_t i = 0; i < kCaches; ++i) {
    both.caches.push_back(joined(old_caches[i], widened(young_caches[i], 1, 3)));
    both.cross.push_back(joined(cross_old[i], cross_young[i]));
  }
  const Floats together = run(both).front();
  const Floats expected = joined(old_logits, young_logits);
  ASSERT_EQ(together.size(), expected.size());
  float worst = 0.0F;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(together[i] - expected[i]));
  EXPECT_LE(worst, 1e-5F);
}

}  // namespace
}  // namespace sampan
