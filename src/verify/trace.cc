#include "verify/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

namespace sampan::verify {
namespace {

using reference::Index;
using reference::Matrix;

/// Values nearer than this, relative to the largest, are the same.
constexpr double kSame = 1e-5;
/// A probability below this stands for a position that is hidden: exp of minus infinity, which a
/// vectorised exp does not always bring to 0.
constexpr double kHidden = 1e-300;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_attention_map(std::string_view name) {
  return name.ends_with(".scores") || name.ends_with(".probabilities");
}

/// The part of a tensor that belongs to one row of the batch, as the reference has it: [positions,
/// width], or [heads * queries, keys] of an attention. May have more positions or keys than the
/// reference, which are padding. Nothing for a shape that cannot be that.
std::optional<Matrix> row_of(const session::NamedTensor& tensor, const Trace::Run& run,
                             std::string_view name, const Matrix& expected) {
  const auto* floats = std::get_if<std::vector<float>>(&tensor.data);
  if (floats == nullptr) return std::nullopt;
  tensor::Shape shape = tensor.shape;
  const bool map = is_attention_map(name);
  // Heads may be an axis of their own or lie in the batch's; rows may be flattened, but for
  // positions, which all rows share.
  if (shape.size() == 3 && shape[0] == run.rows * run.heads && (map || shape[0] != run.rows))
    shape = {run.rows, run.heads, shape[1], shape[2]};
  if (shape.size() == 2 && !name.ends_with(".embed_positions") &&
      shape[0] == run.rows * expected.rows() && shape[0] != expected.rows())
    shape = {run.rows, expected.rows(), shape[1]};
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  if (shape.size() == 3) shape.insert(shape.begin() + 1, 1);
  if (shape.size() != 4 || (shape[0] != run.rows && shape[0] != 1)) return std::nullopt;
  const Index heads = shape[1], length = shape[2], width = shape[3];
  const float* start = floats->data() + (shape[0] == 1 ? 0 : run.row) * heads * length * width;
  Matrix result;
  if (map) {
    const Index queries = expected.rows() / run.heads;
    if (heads != run.heads || length < queries || width < expected.cols()) return std::nullopt;
    result.resize(expected.rows(), width);
    for (Index head = 0; head < heads; ++head)
      for (Index query = 0; query < queries; ++query)
        for (Index key = 0; key < width; ++key)
          result(head * queries + query, key) =
              static_cast<double>(start[(head * length + query) * width + key]);
    return result;
  }
  if (length < expected.rows() || heads * width != expected.cols()) return std::nullopt;
  result.resize(length, heads * width);
  for (Index head = 0; head < heads; ++head)
    for (Index position = 0; position < length; ++position)
      for (Index column = 0; column < width; ++column)
        result(position, head * width + column) =
            static_cast<double>(start[(head * length + position) * width + column]);
  return result;
}

double magnitude(const Matrix& values) {
  double largest = 1.0;
  for (Index i = 0; i < values.size(); ++i)
    if (std::isfinite(values.data()[i])) largest = std::max(largest, std::abs(values.data()[i]));
  return largest;
}

/// The largest difference where both are numbers, relative to `magnitude`; infinite where only the
/// graph's is none.
struct Worst {
  double figure = 0.0;
  Index row = 0, column = 0;
};
Worst worst_of(const Matrix& actual, const Matrix& expected) {
  const double unit = magnitude(expected);
  Worst worst;
  for (Index row = 0; row < expected.rows(); ++row)
    for (Index column = 0; column < expected.cols(); ++column) {
      if (!std::isfinite(expected(row, column))) continue;
      const double value = actual(row, column);
      const double figure =
          std::isfinite(value) ? std::abs(value - expected(row, column)) / unit : kInfinity;
      if (figure > worst.figure) worst = {figure, row, column};
    }
  return worst;
}

std::string without_suffix(std::string_view name, std::string_view suffix) {
  return std::string(name.substr(0, name.size() - suffix.size()));
}

/// The factor by which all values differ, if one does.
std::optional<double> factor_of(const Matrix& actual, const Matrix& expected) {
  double both = 0.0, square = 0.0;
  for (Index i = 0; i < expected.size(); ++i) {
    const double value = expected.data()[i];
    if (!std::isfinite(value)) continue;
    both += value * actual.data()[i];
    square += value * value;
  }
  const double factor = both / square;
  if (!std::isfinite(factor)) return std::nullopt;
  const Matrix scaled = expected * factor;
  return worst_of(actual, scaled).figure <= kSame ? std::optional(factor) : std::nullopt;
}

}  // namespace

bool Trace::equals_last(std::string_view name, const Matrix& actual) const {
  const auto found = last_.find(name);
  return found != last_.end() && found->second.rows() == actual.rows() &&
         found->second.cols() == actual.cols() && worst_of(actual, found->second).figure <= kSame;
}

std::string Trace::part_of(std::string_view name, const Matrix& actual,
                           const Matrix& expected) const {
  const auto is = [&](std::string_view suffix) { return name.ends_with(suffix); };
  if (!actual.allFinite() && !is(".scores")) return "overflow";
  if (probes_.find(name)->second.op_type == "Dropout") return "dropout";
  if (is(".embed_tokens")) return "embedding";
  if (is(".embed_scale")) return "scale";
  if (is(".embed_positions")) return "positions";
  if (is(".embedding")) {
    const std::string stack = without_suffix(name, "embedding");
    const auto tokens = last_.find(stack + "embed_tokens");
    const auto positions = last_.find(stack + "embed_positions");
    if (tokens != last_.end() && positions != last_.end() &&
        worst_of(actual, tokens->second + positions->second).figure <= kSame)
      return "scale";
    return equals_last(stack + "embed_scale", actual) ? "positions" : "sum";
  }
  if (is(".scores")) {
    const auto factor = factor_of(actual, expected);
    return factor ? fmt::format("scale ({:.3g} times the right one)", *factor) : "scores";
  }
  if (is(".probabilities")) return "softmax";
  if (is(".context")) return "values";
  if (is(".keys") || is(".values")) return "cache";
  if (is(".input")) return "residual";
  if (is("_layer_norm")) return "normalisation";
  if (is(".activation")) return "activation";
  if (is(".product")) return "weight";
  // A projection. Its product was right, or is not to be seen.
  const std::string product = std::string(name) + ".product";
  if (equals_last(product, actual)) return "bias is missing";
  return probes_.contains(product) ? "bias" : "weight or bias";
}

void Trace::note(std::string_view name, double figure, std::string part, std::string detail) {
  Seen& seen = seen_.find(name)->second;
  if (figure <= seen.worst) return;
  seen.worst = figure;
  seen.part = std::move(part);
  seen.detail = std::move(detail);
}

void Trace::compare(const Run& run, std::string_view name, Matrix& value) {
  const auto tensor = run.values.find(name);
  if (tensor == run.values.end() || broken_) {
    last_[std::string(name)] = value;
    return;
  }
  Seen& seen =
      seen_.try_emplace(std::string(name), Seen{seen_.size(), 0, 0, 0, {}, {}}).first->second;
  const auto where = [&](const std::string& what) {
    return fmt::format("{}, row {}: {}", run.case_name, run.row, what);
  };
  const auto found = row_of(tensor->second, run, name, value);
  const bool grows = name.ends_with(".self_attn.keys") || name.ends_with(".self_attn.values");
  if (!found || (grows && found->rows() != value.rows())) {
    broken_ = true;
    return note(
        name, kInfinity, "shape",
        where(fmt::format("the shape is {}, for {} positions of {}",
                          tensor::to_string(tensor->second.shape), value.rows(), value.cols())));
  }
  const Matrix actual = found->topLeftCorner(value.rows(), value.cols());
  const Worst worst = worst_of(actual, value);
  double figure = worst.figure;
  std::string hidden;  // what the reference does not see at all, and the graph does
  if (name.ends_with(".probabilities")) {
    const double padded = found->rightCols(found->cols() - value.cols()).sum();
    const double later = (value.array() < kHidden).select(actual, 0.0).sum();
    if (padded > kSame || later > kSame) {
      hidden = padded > kSame ? "padding" : "causal";
      figure = std::max({figure, padded, later});
    }
  }
  if (figure > seen.worst) {
    std::string what =
        hidden.empty()
            ? fmt::format("position {}, column {}: {:.6g} for {:.6g}", worst.row, worst.column,
                          actual(worst.row, worst.column), value(worst.row, worst.column))
            : fmt::format("attention of {:.3g} to what is hidden", figure);
    note(name, figure, hidden.empty() ? part_of(name, actual, value) : hidden + " mask",
         where(what));
  }
  for (Index i = 0; i < value.size(); ++i) {
    double& expected = value.data()[i];
    if (!std::isfinite(expected)) continue;
    const double difference = actual.data()[i] - expected;
    seen.error += difference * difference;
    seen.square += expected * expected;
    expected = actual.data()[i];
  }
  last_[std::string(name)] = value;
}

reference::Observer Trace::observer(const Run& run) {
  last_.clear();
  broken_ = false;
  return [this, &run](std::string_view name, Matrix& value) { compare(run, name, value); };
}

std::vector<Place> Trace::places() const {
  std::vector<std::pair<std::size_t, Place>> ordered;
  for (const auto& [name, seen] : seen_) {
    if (!(seen.worst > limit_)) continue;
    ordered.push_back({seen.order,
                       {graph_, name, seen.part, probes_.find(name)->second.node, seen.worst,
                        limit_, seen.detail}});
  }
  std::ranges::sort(ordered, {}, &std::pair<std::size_t, Place>::first);
  std::vector<Place> places;
  for (auto& [order, place] : ordered) places.push_back(std::move(place));
  return places;
}

std::vector<InnerValue> Trace::inner_values() const {
  std::vector<InnerValue> values(seen_.size());
  for (const auto& [name, seen] : seen_)
    values[seen.order] = {graph_, name, seen.worst,
                          seen.square > 0.0 ? std::sqrt(seen.error / seen.square) : 0.0};
  return values;
}

}  // namespace sampan::verify
