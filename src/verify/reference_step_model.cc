#include "verify/reference_step_model.h"

#include <algorithm>
#include <utility>

namespace sampan::verify {

void ReferenceStepModel::start(const decode::SourceBatch& sources) {
  targets_.clear();
  for (const auto& source : sources) targets_.push_back(model_.start(model_.encode(source)));
}

std::span<float> ReferenceStepModel::step(std::span<const std::int64_t> tokens,
                                          std::int64_t length) {
  std::vector<reference::Marian::Row> rows;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    rows.push_back({&targets_.at(i / static_cast<std::size_t>(length)), tokens[i]});
  const reference::Matrix logits = model_.decode(rows);
  logits_.resize(static_cast<std::size_t>(logits.size()));
  std::transform(logits.data(), logits.data() + logits.size(), logits_.begin(),
                 [](double logit) { return static_cast<float>(logit); });
  return logits_;
}

void ReferenceStepModel::select(std::span<const std::int64_t> origins) {
  // The last row that continues an old one takes it over; only the others copy.
  std::vector<std::size_t> last(targets_.size(), 0);
  for (std::size_t i = 0; i < origins.size(); ++i) last[static_cast<std::size_t>(origins[i])] = i;
  std::vector<reference::Marian::Target> selected(origins.size());
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const auto origin = static_cast<std::size_t>(origins[i]);
    if (last[origin] == i)
      selected[i] = std::move(targets_[origin]);
    else
      selected[i] = targets_[origin];
  }
  targets_ = std::move(selected);
}

}  // namespace sampan::verify
