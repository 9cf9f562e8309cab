#include "quantize/input_moments.h"

#include <Eigen/Core>
#include <cmath>

#include "base/fail.h"

namespace sampan::quantize {
namespace {

/// Rows that are added at once: a row alone would move the whole matrix through memory.
constexpr std::size_t kRowsAtOnce = 128;

template <typename Element>
using Rows = Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

InputMoments::InputMoments(std::int64_t inputs)
    : inputs_(static_cast<std::size_t>(inputs)), sums_(inputs_ * inputs_) {}

void InputMoments::add(std::span<const float> rows) {
  if (inputs_ == 0 || rows.size() % inputs_ != 0)
    base::fail(ErrorCode::kInternal, "{} activations are not rows of {}", rows.size(), inputs_);
  for (const float value : rows)
    if (!std::isfinite(value))
      base::fail(ErrorCode::kInvalidData,
                 "an activation is {}; the model overflows on the calibration text", value);
  rows_seen_ += rows.size() / inputs_;
  pending_.insert(pending_.end(), rows.begin(), rows.end());
  if (pending_.size() >= kRowsAtOnce * inputs_) flush();
}

std::span<const double> InputMoments::sums() {
  flush();
  return sums_;
}

void InputMoments::flush() {
  if (pending_.empty()) return;
  const auto width = static_cast<Eigen::Index>(inputs_);
  const Rows<double> rows =
      Eigen::Map<const Rows<float>>(pending_.data(),
                                    static_cast<Eigen::Index>(pending_.size() / inputs_), width)
          .cast<double>();
  Eigen::Map<Rows<double>>(sums_.data(), width, width)
      .selfadjointView<Eigen::Lower>()
      .rankUpdate(rows.transpose());
  pending_.clear();
}

}  // namespace sampan::quantize
