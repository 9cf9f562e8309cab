#include "verify/reference_step_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "support/folders.h"

namespace sampan::verify {
namespace {

const std::filesystem::path kCheckpoint =
    std::filesystem::path(kSourceFolder) / "tests/data/reference/tied";

std::vector<float> last_logits(ReferenceStepModel& model, std::vector<std::int64_t> tokens) {
  const std::span<float> logits = model.step(tokens, 1);
  return {logits.begin(), logits.end()};
}

// Rows that swap, repeat and vanish continue the targets that they name, as if these had been
// decoded alone.
TEST(ReferenceStepModel, RowsContinueWhatTheyNameAfterASelection) {
  const checkpoint::Checkpoint checkpoint = checkpoint::open_checkpoint(kCheckpoint);
  const reference::Marian marian(checkpoint);
  const auto width = static_cast<std::size_t>(marian.vocab_size());
  ReferenceStepModel model(marian, checkpoint.config.max_position_embeddings);
  model.start({{3, 5, 0}, {7, 0}});
  last_logits(model, {1, 2});
  model.select(std::vector<std::int64_t>{1, 0, 1});
  ASSERT_EQ(model.rows(), 3);
  const std::vector<float> selected = last_logits(model, {4, 5, 6});

  const decode::SourceBatch sources = {{7, 0}, {3, 5, 0}, {7, 0}};
  const std::vector<std::int64_t> first = {2, 1, 2};
  const std::vector<std::int64_t> second = {4, 5, 6};
  for (std::size_t row = 0; row < 3; ++row) {
    ReferenceStepModel alone(marian, checkpoint.config.max_position_embeddings);
    alone.start({sources[row]});
    last_logits(alone, {first[row]});
    const std::vector<float> expected = last_logits(alone, {second[row]});
    ASSERT_EQ(expected.size(), width);
    for (std::size_t i = 0; i < width; ++i)
      EXPECT_NEAR(selected[row * width + i], expected[i], 1e-6) << row << ", " << i;
  }
}

}  // namespace
}  // namespace sampan::verify
