#include "verify/model_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <random>
#include <utility>

#include "base/fail.h"
#include "base/printable.h"

namespace sampan::verify {
namespace {

using session::GraphSignature;
using session::NamedTensor;
using session::ValueSignature;

constexpr std::int64_t kSmallTable = 16;
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

/// Sizes by what an axis is named after.
struct Sizes {
  std::int64_t batch = 2;
  std::int64_t source = 5;
  std::int64_t length = 3;
  std::int64_t past = 0;
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool is_float(std::string_view dtype) { return dtype.starts_with("float"); }

/// Gives the axes of all models their sizes.
class AxisSizes {
 public:
  AxisSizes(std::map<std::string, std::int64_t> known, const Sizes& sizes)
      : known_(std::move(known)), sizes_(sizes) {}

  std::int64_t of(std::string_view axis, std::size_t place) const {
    if (const auto found = known_.find(std::string(axis)); found != known_.end())
      return found->second;
    if (const std::size_t plus = axis.find('+'); plus != std::string_view::npos)
      return of(trimmed(axis.substr(0, plus)), place) + of(trimmed(axis.substr(plus + 1)), place);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(axis.data(), axis.data() + axis.size(), number);
    if (error == std::errc() && end == axis.data() + axis.size() && number >= 0) return number;
    return by_name(lower(axis), place);
  }

 private:
  std::int64_t by_name(std::string_view axis, std::size_t place) const {
    if (has(axis, "batch") || (axis.empty() && place == 0)) return sizes_.batch;
    if (has(axis, "past")) return sizes_.past;
    if (has(axis, "total")) return sizes_.past + sizes_.length;
    if (has(axis, "encoder") || has(axis, "source")) return sizes_.source;
    return sizes_.length;
  }

  std::map<std::string, std::int64_t> known_;
  Sizes sizes_;
};

/// What all models together say of one input.
struct Input {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> dims;  // -1: by its name
  std::vector<std::string> axes;
  std::int64_t id_limit = kSmallTable;
};

void fix(const Input& input, std::size_t axis, std::int64_t size,
         std::map<std::string, std::int64_t>& known) {
  const std::string& name = input.axes[axis];
  if (name.empty()) return;
  const auto [place, added] = known.emplace(name, size);
  if (!added && place->second != size)
    base::fail(ErrorCode::kInvalidArgument,
               "input '{}': axis '{}' is {} here and {} elsewhere; compare models that take the "
               "same inputs, or give sizes with --dim",
               input.name, name, size, place->second);
}

void merge(const ValueSignature& value, const GraphSignature& graph, Input& input,
           std::map<std::string, std::int64_t>& known) {
  if (value.dims.size() != input.dims.size() || is_float(value.dtype) != is_float(input.dtype))
    base::fail(ErrorCode::kInvalidArgument,
               "{}: input '{}' is {}, and {} with {} axes in the other model; compare models that "
               "take the same inputs",
               graph.file, value.name, session::to_string(value), input.dtype, input.dims.size());
  for (std::size_t axis = 0; axis < value.dims.size(); ++axis) {
    std::int64_t& size = input.dims[axis];
    if (size < 0 && value.dims[axis] >= 0) {
      size = value.dims[axis];
      fix(input, axis, size, known);
    } else if (size >= 0 && value.dims[axis] >= 0 && size != value.dims[axis]) {
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: input '{}' is {}, but {} in the other model; compare models that take the "
                 "same inputs",
                 graph.file, value.name, session::to_string(value), tensor::to_string(input.dims));
    } else if (size >= 0 && !value.axes[axis].empty()) {
      Input other = input;
      other.axes = value.axes;
      fix(other, axis, size, known);
    }
  }
}

/// Rows of the tables that inputs are looked up in directly: ids must be below the smallest.
std::map<std::string, std::int64_t, std::less<>> table_rows(std::span<const graph::Model> models) {
  std::map<std::string, std::int64_t, std::less<>> rows;
  for (const graph::Model& model : models) {
    std::map<std::string_view, std::int64_t> tables;
    for (const graph::Initializer& initializer : model.graph.initializers)
      if (!initializer.shape.empty()) tables.emplace(initializer.name, initializer.shape[0]);
    for (const graph::Node& node : model.graph.nodes) {
      if (!node.op_type.starts_with("Gather") || node.inputs.size() < 2) continue;
      const auto table = tables.find(node.inputs[0]);
      if (table == tables.end() || table->second < 1) continue;
      const auto [place, added] = rows.emplace(node.inputs[1], table->second);
      if (!added) place->second = std::min(place->second, table->second);
    }
  }
  return rows;
}

std::vector<Input> merge_inputs(std::span<const GraphSignature> signatures,
                                std::map<std::string, std::int64_t>& known) {
  std::vector<Input> inputs;
  for (const GraphSignature& graph : signatures)
    for (const ValueSignature& value : graph.inputs) {
      if (!session::is_runnable(value))
        base::fail(ErrorCode::kUnsupported,
                   "{}: input '{}' is {}; only tensors of numbers can be made up: give its values "
                   "in an .npz file",
                   graph.file, value.name, value.dtype);
      const auto found = std::ranges::find(inputs, value.name, &Input::name);
      if (found == inputs.end())
        inputs.push_back({value.name, value.dtype, value.dims, value.axes, kSmallTable});
      else
        merge(value, graph, *found, known);
    }
  return inputs;
}

class ValueMaker {
 public:
  ValueMaker(const Input& input, const Sizes& sizes, tensor::Shape shape)
      : name_(lower(input.name)), input_(input), sizes_(sizes), shape_(std::move(shape)) {
    const auto count = tensor::element_count(shape_);
    if (!count || *count > kMostElements)
      base::fail(ErrorCode::kInvalidArgument,
                 "input '{}' would have the shape {}; give smaller sizes with --dim", input.name,
                 tensor::to_string(shape_));
    count_ = static_cast<std::size_t>(*count);
    // Each input has numbers of its own, whatever inputs stand before it.
    for (const char c : input.name) generator_.discard(static_cast<unsigned char>(c));
  }

  NamedTensor make() {
    NamedTensor result{input_.name, shape_, std::vector<float>()};
    if (input_.dtype == "bool")
      result.data = std::vector<std::uint8_t>(count_, !has(name_, "cache") || sizes_.past > 0);
    else if (is_float(input_.dtype))
      result.data = floats();
    else
      result.data = integers();
    return result;
  }

 private:
  std::size_t row_length() const {
    return shape_.empty() ? 1 : static_cast<std::size_t>(std::max<std::int64_t>(1, shape_.back()));
  }
  /// Row 0 is whole; the others end before the last places of the row.
  bool is_masked(std::size_t place) const {
    const std::size_t length = row_length();
    const std::size_t row = place / length;
    return place % length >= length - std::min(row % 3, length - 1);
  }

  std::vector<float> floats() {
    std::vector<float> values(count_);
    for (std::size_t i = 0; i < count_; ++i)
      values[i] = has(name_, "mask") ? (is_masked(i) ? 0.0f : 1.0f)
                                     : static_cast<float>(generator_() % 20001) / 10000.0f - 1.0f;
    return values;
  }

  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> values(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (has(name_, "mask"))
        values[i] = is_masked(i) ? 0 : 1;
      else if (has(name_, "position"))
        values[i] = sizes_.past + static_cast<std::int64_t>(i % row_length());
      else if (!has(name_, "type"))
        values[i] = static_cast<std::int64_t>(generator_()) % input_.id_limit;
    }
    return values;
  }

  std::string name_;
  const Input& input_;
  const Sizes& sizes_;
  tensor::Shape shape_;
  std::size_t count_ = 0;
  std::minstd_rand generator_{20};
};

InputCase make_case(std::string name, std::span<const Input> inputs, const Sizes& sizes,
                    const std::map<std::string, std::int64_t>& known) {
  const AxisSizes axes(known, sizes);
  InputCase result{std::move(name), {}};
  for (const Input& input : inputs) {
    tensor::Shape shape = input.dims;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] < 0) shape[axis] = axes.of(input.axes[axis], axis);
    result.tensors.push_back(ValueMaker(input, sizes, std::move(shape)).make());
  }
  return result;
}

}  // namespace

std::vector<InputCase> make_inputs(std::span<const GraphSignature> signatures,
                                   std::span<const graph::Model> models,
                                   const InputOptions& options) {
  std::map<std::string, std::int64_t> known = options.axes;
  std::vector<Input> inputs = merge_inputs(signatures, known);
  const auto rows = table_rows(models);
  bool has_past = false;
  for (Input& input : inputs) {
    if (const auto found = rows.find(input.name); found != rows.end())
      input.id_limit = found->second;
    if (options.id_limit) input.id_limit = *options.id_limit;
    for (const std::string& axis : input.axes) has_past = has_past || has(lower(axis), "past");
  }
  std::vector<InputCase> cases;
  cases.push_back(make_case(has_past ? "without a past" : "two rows", inputs, {}, known));
  if (has_past)
    cases.push_back(
        make_case("with a past", inputs, {.batch = 3, .source = 4, .length = 1, .past = 4}, known));
  else
    cases.push_back(make_case("one row", inputs, {.batch = 1, .source = 7, .length = 7}, known));
  return cases;
}

NamedTensor named_tensor(std::string name, const tensor::Array& array, std::string_view dtype) {
  const auto count = static_cast<std::size_t>(tensor::element_count(array.shape).value_or(0));
  NamedTensor result{std::move(name), array.shape, std::vector<float>()};
  const bool holds_floats = array.dtype == tensor::DType::kF32 ||
                            array.dtype == tensor::DType::kF16 ||
                            array.dtype == tensor::DType::kF64;
  if (holds_floats) {
    std::vector<float> floats(count);
    tensor::to_floats(array.view(), floats);
    result.data = std::move(floats);
    return result;
  }
  std::vector<std::int64_t> integers(count);
  tensor::to_integers(array.view(), integers);
  const bool is_bool = dtype.empty() ? array.dtype == tensor::DType::kBool : dtype == "bool";
  if (is_bool) {
    std::vector<std::uint8_t> bytes(count);
    std::ranges::transform(integers, bytes.begin(),
                           [](std::int64_t value) { return std::uint8_t{value != 0}; });
    result.data = std::move(bytes);
  } else if (is_float(dtype)) {
    result.data = std::vector<float>(integers.begin(), integers.end());
  } else {
    result.data = std::move(integers);
  }
  return result;
}

InputCase read_inputs(const GraphSignature& signature, const tensor::NpzFile& file,
                      std::string name) {
  InputCase result{std::move(name), {}};
  for (const ValueSignature& input : signature.inputs) {
    if (!file.contains(input.name))
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: has no array for the input '{}' of {}; it has: {}", result.name, input.name,
                 signature.file, base::printable(fmt::format("{}", fmt::join(file.names(), ", "))));
    result.tensors.push_back(named_tensor(input.name, file.read(input.name), input.dtype));
  }
  return result;
}

}  // namespace sampan::verify
