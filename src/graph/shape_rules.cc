#include "graph/shape_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "graph/onnx_format.h"

namespace sampan::graph {
namespace {

using tensor::DType;
using Extents = std::vector<Extent>;

template <typename... Args>
[[noreturn]] void contradict(fmt::format_string<Args...> format, Args&&... args) {
  throw Contradiction{fmt::format(format, std::forward<Args>(args)...)};
}

InferredValue typed(std::optional<DType> dtype, std::optional<Extents> shape = {}) {
  return {dtype, std::move(shape), {}};
}

/// The same axis seen twice: the number where one is known. Numbers that differ contradict.
Extent same_axis(const Extent& a, const Extent& b, std::string_view what) {
  const auto left = a.number();
  const auto right = b.number();
  if (left && right && *left != *right) contradict("{} is {} and {}", what, *left, *right);
  return left || !b.is_known() ? a : b;
}

std::optional<DType> same_type(const NodeView& node, std::size_t first, std::size_t second) {
  const auto a = node.in(first).dtype;
  const auto b = node.in(second).dtype;
  if (a && b && *a != *b)
    contradict("its inputs are {} and {}", tensor::name_of(*a), tensor::name_of(*b));
  return a ? a : b;
}

void require_type(const NodeView& node, std::size_t input, std::initializer_list<DType> types) {
  const auto found = node.in(input).dtype;
  if (found && std::ranges::find(types, *found) == types.end())
    contradict("its input {} cannot be {}", input, tensor::name_of(*found));
}

std::size_t axis_in(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) contradict("there is no axis {} among {}", axis, rank);
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

/// The numbers of an input, where all are known.
std::optional<std::vector<std::int64_t>> numbers(const InferredValue& value) {
  if (!value.content) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const Extent& element : *value.content) {
    const auto number = element.number();
    if (!number) return std::nullopt;
    result.push_back(*number);
  }
  return result;
}

std::optional<std::int64_t> scalar(const InferredValue& value) {
  const auto all = numbers(value);
  if (!all || all->size() != 1) return std::nullopt;
  return all->front();
}

Extent product_of(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), Extent(1),
                         [](const Extent& a, const Extent& b) { return a * b; });
}

Extents extents_of(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

Extent broadcast_axis(const Extent& a, const Extent& b) {
  const auto left = a.number();
  const auto right = b.number();
  if (left == 1) return b;
  if (right == 1) return a;
  if (left && right && *left != *right) contradict("axes of {} and {} meet", *left, *right);
  if (left) return a;  // the named one must be that or 1
  if (right) return b;
  return a.equals(b) ? a : Extent();
}

std::optional<Extents> broadcast(const std::optional<Extents>& a, const std::optional<Extents>& b) {
  if (!a || !b) return std::nullopt;
  Extents result(std::max(a->size(), b->size()));
  for (std::size_t back = 1; back <= result.size(); ++back) {
    const Extent left = back <= a->size() ? (*a)[a->size() - back] : Extent(1);
    const Extent right = back <= b->size() ? (*b)[b->size() - back] : Extent(1);
    result[result.size() - back] = broadcast_axis(left, right);
  }
  return result;
}

std::optional<Extents> broadcast_all(const NodeView& node, std::size_t first) {
  std::optional<Extents> shape = node.in(first).shape;
  for (std::size_t i = first + 1; i < node.count(); ++i) shape = broadcast(shape, node.in(i).shape);
  return shape;
}

/// Applies `compute` to the elements of the first two inputs, one of which may be a single one.
template <typename Compute>
std::optional<Extents> pairwise(const NodeView& node, Compute compute) {
  const auto& a = node.in(0).content;
  const auto& b = node.in(1).content;
  if (!a || !b || a->empty() || b->empty()) return std::nullopt;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return std::nullopt;
  Extents result;
  for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i)
    result.push_back(compute((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  return result;
}

Inferred unary(const NodeView& node) { return {typed(node.in(0).dtype, node.in(0).shape)}; }

Inferred identity(const NodeView& node) { return {node.in(0)}; }

Inferred test(const NodeView& node) { return {typed(DType::kBool, node.in(0).shape)}; }

Inferred arithmetic(const NodeView& node) {
  InferredValue result = typed(same_type(node, 0, 1), broadcast_all(node, 0));
  const std::string& type = node.node().op_type;
  result.content = pairwise(node, [&](const Extent& a, const Extent& b) {
    if (type == "Add") return a + b;
    if (type == "Sub") return a - b;
    if (type == "Mul") return a * b;
    return a / b;
  });
  return {std::move(result)};
}

Inferred power(const NodeView& node) { return {typed(node.in(0).dtype, broadcast_all(node, 0))}; }

Inferred variadic(const NodeView& node) {
  std::optional<DType> dtype = node.in(0).dtype;
  for (std::size_t i = 1; i < node.count(); ++i) dtype = same_type(node, 0, i);
  return {typed(dtype, broadcast_all(node, 0))};
}

Inferred comparison(const NodeView& node) {
  same_type(node, 0, 1);
  InferredValue result = typed(DType::kBool, broadcast_all(node, 0));
  if (node.node().op_type == "Equal")
    result.content = pairwise(node, [](const Extent& a, const Extent& b) -> Extent {
      if (a.equals(b)) return 1;
      const auto left = a.number();
      const auto right = b.number();
      // An axis is never negative: only so is it known to differ from a number.
      if ((left && right) || (left && *left < 0) || (right && *right < 0)) return 0;
      return {};
    });
  return {std::move(result)};
}

Inferred logic(const NodeView& node) {
  for (std::size_t i = 0; i < node.count(); ++i) require_type(node, i, {DType::kBool});
  return {typed(DType::kBool, broadcast_all(node, 0))};
}

Inferred where(const NodeView& node) {
  require_type(node, 0, {DType::kBool});
  InferredValue result = typed(same_type(node, 1, 2), broadcast_all(node, 0));
  const auto& condition = node.in(0).content;
  const auto& yes = node.in(1).content;
  const auto& no = node.in(2).content;
  if (condition && yes && no) {
    Extents content;
    for (std::size_t i = 0; i < condition->size(); ++i) {
      const auto chosen = (*condition)[i].number();
      const auto& from = chosen == 0 ? *no : *yes;
      const std::size_t at = from.size() == 1 ? 0 : i;
      content.push_back(chosen && at < from.size() ? from[at] : Extent());
    }
    if (yes->size() <= condition->size() && no->size() <= condition->size())
      result.content = std::move(content);
  }
  return {std::move(result)};
}

Inferred cast(const NodeView& node) {
  InferredValue result = node.in(0);
  result.dtype = onnx::dtype_of(node.integer("to", 0));
  if (result.dtype != DType::kI64 && result.dtype != DType::kI32) result.content.reset();
  if (node.in(0).dtype == DType::kBool) result.content.reset();
  return {std::move(result)};
}

Inferred softmax(const NodeView& node) {
  if (node.in(0).shape) axis_in(node.integer("axis", -1), node.in(0).shape->size());
  return unary(node);
}

Inferred layer_normalization(const NodeView& node) {
  const auto& shape = node.in(0).shape;
  if (!shape) return unary(node);
  const std::size_t axis = axis_in(node.integer("axis", -1), shape->size());
  for (std::size_t i = 1; i < node.count(); ++i) {
    if (!node.has(i)) continue;
    same_type(node, 0, i);
    const auto& weight = node.in(i).shape;
    if (axis + 1 == shape->size() && weight && weight->size() == 1)
      same_axis(shape->back(), weight->front(), "the normalised axis");
  }
  return unary(node);
}

Inferred gather(const NodeView& node) {
  require_type(node, 1, {DType::kI32, DType::kI64});
  InferredValue result = typed(node.in(0).dtype);
  const auto& data = node.in(0).shape;
  const auto& indices = node.in(1).shape;
  if (data) {
    const std::size_t axis = axis_in(node.integer("axis", 0), data->size());
    const auto place = scalar(node.in(1));
    const auto size = (*data)[axis].number();
    if (place && size && *size >= 0 && (*place >= *size || *place < -*size))
      contradict("it reads {} of an axis of {}", *place, *size);
    if (indices) {
      Extents shape(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(axis));
      shape.insert(shape.end(), indices->begin(), indices->end());
      shape.insert(shape.end(), data->begin() + static_cast<std::ptrdiff_t>(axis) + 1, data->end());
      result.shape = std::move(shape);
    }
  }
  const auto places = numbers(node.in(1));
  if (node.in(0).content && places) {
    const Extents& from = *node.in(0).content;
    result.content.emplace();
    for (const std::int64_t place : *places)
      result.content->push_back(from[axis_in(place, from.size())]);
  }
  return {std::move(result)};
}

/// The part of a vector from `start` to `end` as attributes of Shape name it.
Inferred shape_of(const NodeView& node) {
  InferredValue result = typed(DType::kI64);
  if (!node.in(0).shape) {
    result.shape = Extents{Extent()};
    return {std::move(result)};
  }
  const Extents& shape = *node.in(0).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto clamp = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  const std::int64_t begin = clamp(node.integer("start", 0));
  const std::int64_t end = std::max(begin, clamp(node.integer("end", rank)));
  result.content = Extents(shape.begin() + begin, shape.begin() + end);
  result.shape = Extents{end - begin};
  return {std::move(result)};
}

Inferred constant(const NodeView& node) {
  if (const auto* value = node.attribute("value"))
    if (const auto* tensor = std::get_if<Initializer>(value)) return {value_of(*tensor)};
  if (node.attribute("value_int") != nullptr)
    return {{DType::kI64, Extents{}, Extents{node.integer("value_int", 0)}}};
  if (const auto values = node.integers("value_ints"))
    return {{DType::kI64, Extents{std::ssize(*values)}, extents_of(*values)}};
  if (node.attribute("value_float") != nullptr) return {typed(DType::kF32, Extents{})};
  return {};
}

Inferred constant_of_shape(const NodeView& node) {
  InferredValue result = typed(DType::kF32, node.in(0).content);
  std::optional<std::int64_t> element;
  if (const auto* value = node.attribute("value"))
    if (const auto* tensor = std::get_if<Initializer>(value)) {
      const InferredValue filling = value_of(*tensor);
      result.dtype = filling.dtype;
      element = scalar(filling);
    }
  const auto length = scalar(node.in(0));
  if (element && length && *length >= 0 && *length <= kLongestContent)
    result.content = Extents(static_cast<std::size_t>(*length), *element);
  return {std::move(result)};
}

Inferred range(const NodeView& node) {
  same_type(node, 0, 1);
  InferredValue result = typed(same_type(node, 0, 2), Extents{Extent()});
  const auto only = [](const InferredValue& value) {
    return value.content && value.content->size() == 1 ? value.content->front() : Extent();
  };
  if (only(node.in(2)).number() == 1) {
    const Extent length = only(node.in(1)) - only(node.in(0));
    result.shape =
        Extents{length.number() ? Extent(std::max<std::int64_t>(0, *length.number())) : length};
  }
  return {std::move(result)};
}

Inferred concat(const NodeView& node) {
  InferredValue result = typed(node.in(0).dtype, node.in(0).shape);
  result.content = node.in(0).content;
  for (std::size_t i = 1; i < node.count(); ++i) {
    same_type(node, 0, i);
    const InferredValue& more = node.in(i);
    if (result.content && more.content)
      result.content->insert(result.content->end(), more.content->begin(), more.content->end());
    else
      result.content.reset();
    if (!result.shape || !more.shape) {
      result.shape.reset();
      continue;
    }
    Extents& shape = *result.shape;
    if (shape.size() != more.shape->size())
      contradict("it joins {} and {}", to_string(shape), to_string(*more.shape));
    const std::size_t axis = axis_in(node.integer("axis", 0), shape.size());
    for (std::size_t k = 0; k < shape.size(); ++k)
      shape[k] = k == axis ? shape[k] + (*more.shape)[k]
                           : same_axis(shape[k], (*more.shape)[k], "an axis that is not joined");
  }
  if (result.content && std::ssize(*result.content) > kLongestContent) result.content.reset();
  return {std::move(result)};
}

/// What is left of an axis between two places.
Extent sliced(const Extent& size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto number = size.number();
  if (!number) {
    const bool whole = start == 0 && end >= std::numeric_limits<std::int32_t>::max() && step == 1;
    if (whole) return size;
    return {};
  }
  if (step < 1) return {};
  const auto clamp = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + *number : place, 0, *number);
  };
  const std::int64_t length = std::max<std::int64_t>(0, clamp(end) - clamp(start));
  return length / step + (length % step != 0 ? 1 : 0);
}

Inferred slice(const NodeView& node) {
  InferredValue result = typed(node.in(0).dtype);
  if (!node.in(0).shape) return {std::move(result)};
  Extents shape = *node.in(0).shape;
  const auto starts = numbers(node.in(1));
  const auto ends = numbers(node.in(2));
  auto axes = node.has(3) ? numbers(node.in(3)) : std::vector<std::int64_t>{};
  if (!node.has(3) && starts)
    for (std::int64_t i = 0; i < std::ssize(*starts); ++i) axes->push_back(i);
  if (!axes || !starts) return {typed(result.dtype, Extents(shape.size()))};
  const auto steps = node.has(4) ? numbers(node.in(4)) : std::vector<std::int64_t>(axes->size(), 1);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    Extent& extent = shape[axis_in((*axes)[i], shape.size())];
    const bool known = ends && steps && i < starts->size() && i < ends->size() && i < steps->size();
    extent = known ? sliced(extent, (*starts)[i], (*ends)[i], (*steps)[i]) : Extent();
  }
  if (const auto& content = node.in(0).content; content && shape.size() == 1 && axes->size() == 1 &&
                                                shape[0].number() &&
                                                steps == std::vector<std::int64_t>{1}) {
    const std::int64_t size = std::ssize(*content);
    const std::int64_t start = starts->front() < 0 ? starts->front() + size : starts->front();
    const auto begin = content->begin() + std::clamp<std::int64_t>(start, 0, size);
    result.content = Extents(begin, begin + std::min(*shape[0].number(), content->end() - begin));
  }
  result.shape = std::move(shape);
  return {std::move(result)};
}

Inferred reshape(const NodeView& node) {
  InferredValue result = typed(node.in(0).dtype);
  if (node.in(1).dtype && node.in(1).dtype != DType::kI64) contradict("its shape is no I64");
  const auto& from = node.in(0).shape;
  const auto& wanted = node.in(1).content;
  if (!wanted) {
    if (const auto& rank = node.in(1).shape; rank && rank->size() == 1)
      if (const auto axes = rank->front().number(); axes && *axes >= 0 && *axes <= 64)
        result.shape = Extents(static_cast<std::size_t>(*axes));
    return {std::move(result)};
  }
  Extents shape = *wanted;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].number() && *shape[i].number() < -1)
      contradict("its shape is {}", to_string(*wanted));
    if (shape[i].number() == -1) {
      if (open) contradict("its shape {} leaves two axes open", to_string(*wanted));
      open = i;
    } else if (shape[i].number() == 0 && node.integer("allowzero", 0) == 0) {
      if (from && i >= from->size()) contradict("its shape keeps axis {} of {}", i, from->size());
      shape[i] = from ? (*from)[i] : Extent();
    }
  }
  const Extent total = from ? product_of(*from) : Extent();
  if (open) {
    shape[*open] = 1;
    const Extent others = product_of(shape);
    shape[*open] = total / others;
    if (total.number() && others.number() && !shape[*open].is_known() && *others.number() != 0)
      contradict("{} cannot become {}", to_string(*from), to_string(*wanted));
  } else if (total.never_equals(product_of(shape))) {
    contradict("{} cannot become {}", to_string(*from), to_string(shape));
  }
  result.shape = shape;
  if (shape.size() <= 1) result.content = node.in(0).content;
  return {std::move(result)};
}

Inferred transpose(const NodeView& node) {
  InferredValue result = typed(node.in(0).dtype);
  const auto& from = node.in(0).shape;
  if (!from) return {std::move(result)};
  auto order = node.integers("perm");
  if (!order) {
    order.emplace();
    for (std::int64_t i = std::ssize(*from) - 1; i >= 0; --i) order->push_back(i);
  }
  if (order->size() != from->size())
    contradict("it orders {} axes of {}", order->size(), from->size());
  result.shape.emplace();
  for (const std::int64_t axis : *order)
    result.shape->push_back((*from)[axis_in(axis, from->size())]);
  return {std::move(result)};
}

Inferred unsqueeze(const NodeView& node) {
  InferredValue result = node.in(0);
  result.shape.reset();
  const auto axes = numbers(node.in(1));
  if (!axes || !node.in(0).shape) return {std::move(result)};
  const Extents& from = *node.in(0).shape;
  const std::size_t rank = from.size() + axes->size();
  std::vector<bool> fresh(rank, false);
  for (const std::int64_t axis : *axes) fresh[axis_in(axis, rank)] = true;
  if (static_cast<std::size_t>(std::ranges::count(fresh, true)) != axes->size())
    contradict("it adds one axis twice");
  result.shape.emplace();
  auto next = from.begin();
  for (const bool is_fresh : fresh) result.shape->push_back(is_fresh ? Extent(1) : *next++);
  return {std::move(result)};
}

Inferred squeeze(const NodeView& node) {
  InferredValue result = node.in(0);
  result.shape.reset();
  const auto axes = numbers(node.in(1));
  if (!axes || !node.in(0).shape) return {std::move(result)};
  const Extents& from = *node.in(0).shape;
  std::vector<bool> gone(from.size(), false);
  for (const std::int64_t axis : *axes) gone[axis_in(axis, from.size())] = true;
  result.shape.emplace();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!gone[i])
      result.shape->push_back(from[i]);
    else if (from[i].number() && *from[i].number() != 1)
      contradict("it drops an axis of {}", *from[i].number());
  return {std::move(result)};
}

Inferred expand(const NodeView& node) {
  return {typed(node.in(0).dtype, broadcast(node.in(0).shape, node.in(1).content))};
}

std::optional<Extents> product_shape(const std::optional<Extents>& a,
                                     const std::optional<Extents>& b) {
  if (!a || !b) return std::nullopt;
  if (a->empty() || b->empty()) contradict("it multiplies a scalar");
  Extents left = *a;
  Extents right = *b;
  const bool is_row = left.size() == 1;
  const bool is_column = right.size() == 1;
  if (is_row) left.insert(left.begin(), 1);
  if (is_column) right.push_back(1);
  same_axis(left.back(), right[right.size() - 2],
            fmt::format("the axis that {} and {} share", to_string(*a), to_string(*b)));
  Extents result =
      broadcast(Extents(left.begin(), left.end() - 2), Extents(right.begin(), right.end() - 2))
          .value();
  if (!is_row) result.push_back(left[left.size() - 2]);
  if (!is_column) result.push_back(right.back());
  return result;
}

Inferred mat_mul(const NodeView& node) {
  return {typed(same_type(node, 0, 1), product_shape(node.in(0).shape, node.in(1).shape))};
}

Inferred mat_mul_integer(const NodeView& node) {
  for (const std::size_t input : {std::size_t{0}, std::size_t{1}})
    require_type(node, input, {DType::kI8, DType::kU8});
  const bool to_float = node.node().op_type != "MatMulInteger";
  return {typed(to_float ? DType::kF32 : DType::kI32,
                product_shape(node.in(0).shape, node.in(1).shape))};
}

Inferred dynamic_mat_mul(const NodeView& node) {
  return {typed(node.in(0).dtype, product_shape(node.in(0).shape, node.in(1).shape))};
}

Inferred gemm(const NodeView& node) {
  const auto matrix = [&](std::size_t input, std::string_view flag) {
    auto shape = node.in(input).shape;
    if (shape && shape->size() != 2)
      contradict("its input {} is {} and no matrix", input, to_string(*shape));
    if (shape && node.integer(flag, 0) != 0) std::swap((*shape)[0], (*shape)[1]);
    return shape;
  };
  const auto shape = product_shape(matrix(0, "transA"), matrix(1, "transB"));
  if (node.has(2)) {
    same_type(node, 0, 2);
    broadcast(shape, node.in(2).shape);
  }
  return {typed(same_type(node, 0, 1), shape)};
}

Inferred dynamic_quantize(const NodeView& node) {
  require_type(node, 0, {DType::kF32});
  return {typed(DType::kU8, node.in(0).shape), typed(DType::kF32, Extents{}),
          typed(DType::kU8, Extents{})};
}

void check_scales(const NodeView& node) {
  const auto& shape = node.in(0).shape;
  const auto& scales = node.in(1).shape;
  if (shape && scales && scales->size() == 1 && scales->front().number() != 1)
    same_axis((*shape)[axis_in(node.integer("axis", 1), shape->size())], scales->front(),
              "the axis of the scales");
}

Inferred quantize(const NodeView& node) {
  check_scales(node);
  return {typed(node.has(2) ? node.in(2).dtype : DType::kU8, node.in(0).shape)};
}

Inferred dequantize(const NodeView& node) {
  check_scales(node);
  if (node.has(2)) same_type(node, 0, 2);
  return {typed(node.in(1).dtype, node.in(0).shape)};
}

Inferred reduce(const NodeView& node) {
  InferredValue result = typed(node.in(0).dtype);
  const auto& from = node.in(0).shape;
  const auto axes = node.has(1) ? numbers(node.in(1)) : node.integers("axes");
  if (!from || (node.has(1) && !axes)) return {std::move(result)};
  const bool none = !axes || axes->empty();
  const bool keeps_all = none && node.integer("noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(from->size(), none && !keeps_all);
  if (axes)
    for (const std::int64_t axis : *axes) reduced[axis_in(axis, from->size())] = true;
  result.shape.emplace();
  for (std::size_t i = 0; i < from->size(); ++i)
    if (!reduced[i])
      result.shape->push_back((*from)[i]);
    else if (node.integer("keepdims", 1) != 0)
      result.shape->push_back(1);
  return {std::move(result)};
}

Inferred arg_reduce(const NodeView& node) {
  InferredValue result = typed(DType::kI64);
  if (!node.in(0).shape) return {std::move(result)};
  Extents shape = *node.in(0).shape;
  const std::size_t axis = axis_in(node.integer("axis", 0), shape.size());
  if (node.integer("keepdims", 1) != 0)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  result.shape = std::move(shape);
  return {std::move(result)};
}

Inferred split(const NodeView& node) {
  const std::size_t count = node.node().outputs.size();
  Inferred results(count, typed(node.in(0).dtype));
  if (!node.in(0).shape) return results;
  const Extents& from = *node.in(0).shape;
  const std::size_t axis = axis_in(node.integer("axis", 0), from.size());
  const auto sizes = node.has(1) ? numbers(node.in(1)) : std::nullopt;
  if (sizes && sizes->size() != count) contradict("it makes {} parts of {}", count, sizes->size());
  for (std::size_t i = 0; i < count; ++i) {
    Extents shape = from;
    shape[axis] = Extent();
    if (sizes)
      shape[axis] = (*sizes)[i];
    else if (!node.has(1))
      shape[axis] = from[axis] / Extent(static_cast<std::int64_t>(count));
    results[i].shape = std::move(shape);
  }
  return results;
}

Inferred tile(const NodeView& node) {
  InferredValue result = typed(node.in(0).dtype);
  const auto& from = node.in(0).shape;
  const auto& times = node.in(1).content;
  if (!from || !times) return {std::move(result)};
  if (from->size() != times->size())
    contradict("it repeats {} axes of {}", times->size(), from->size());
  result.shape.emplace();
  for (std::size_t i = 0; i < from->size(); ++i) result.shape->push_back((*from)[i] * (*times)[i]);
  return {std::move(result)};
}

Inferred block_product(const NodeView& node) {
  InferredValue result = typed(node.in(0).dtype, node.in(0).shape);
  if (!result.shape) return {std::move(result)};
  if (result.shape->empty()) contradict("it multiplies a scalar");
  same_axis(result.shape->back(), node.integer("K", 0), "the axis that is summed over");
  result.shape->back() = node.integer("N", 0);
  return {std::move(result)};
}

Inferred block_gather(const NodeView& node) {
  InferredValue result = typed(node.in(2).dtype);
  const auto& data = node.in(0).shape;
  if (!data || data->size() != 2 || !node.in(1).shape) return {std::move(result)};
  const bool packed = node.in(0).dtype == DType::kU8 && node.integer("bits", 4) == 4;
  result.shape = node.in(1).shape;
  result.shape->push_back(packed ? data->back() * Extent(2) : data->back());
  return {std::move(result)};
}

/// Queries [batch, length, hidden]; values the same, or [batch, heads, length, size of a head].
/// Other layouts, which pack several of them, are not known.
Inferred multi_head_attention(const NodeView& node) {
  Inferred results(node.node().outputs.size(), typed(node.in(0).dtype));
  const auto& queries = node.in(0).shape;
  const auto& values = node.in(2).shape;
  if (!queries || queries->size() != 3 || !values) return results;
  std::vector<Extent> shape = *queries;
  if (values->size() == 4)
    shape.back() = (*values)[1] * (*values)[3];
  else
    shape.back() = values->size() == 3 ? values->back() : Extent();
  results.front().shape = std::move(shape);
  return results;
}

/// Queries, or queries, keys and values side by side, [batch, length, hidden]; caches [batch,
/// heads, length, size of a head], whose new length depends on what they are bound to.
Inferred group_query_attention(const NodeView& node) {
  Inferred results(node.node().outputs.size(), typed(node.in(0).dtype));
  const std::int64_t heads = node.integer("num_heads", 0);
  const std::int64_t kv_heads = node.integer("kv_num_heads", 0);
  if (heads < 1 || kv_heads < 1) contradict("it has no heads");
  const auto& queries = node.in(0).shape;
  if (queries && queries->size() == 3) {
    std::vector<Extent> shape = *queries;
    if (!node.has(1)) shape.back() = shape.back() * Extent(heads) / Extent(heads + 2 * kv_heads);
    results.front().shape = std::move(shape);
  }
  for (const std::size_t cache : {std::size_t{1}, std::size_t{2}}) {
    std::optional<std::vector<Extent>> past = node.in(cache + 2).shape;
    if (cache >= results.size() || !past || past->size() != 4) continue;
    (*past)[2] = Extent();
    results[cache].shape = std::move(past);
  }
  return results;
}

constexpr std::int64_t kFirst = kFirstKnownOpset;
constexpr std::int64_t kLast = kLastKnownOpset;
constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

// Domain, operator, first and last operator set of the form, fewest and most inputs, most outputs,
// attributes, rule.
constexpr OperatorForm kForms[] = {
    {"", "Abs", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Add", kFirst, kLast, 2, 2, 1, "", arithmetic},
    {"", "And", kFirst, kLast, 2, 2, 1, "", logic},
    {"", "ArgMax", kFirst, kLast, 1, 1, 1, "axis keepdims select_last_index", arg_reduce},
    {"", "ArgMin", kFirst, kLast, 1, 1, 1, "axis keepdims select_last_index", arg_reduce},
    {"", "Cast", kFirst, kLast, 1, 1, 1, "to", cast},
    {"", "Ceil", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Clip", kFirst, kLast, 1, 3, 1, "", unary},
    {"", "Concat", kFirst, kLast, 1, kAny, 1, "axis", concat},
    {"", "Constant", kFirst, kLast, 0, 0, 1,
     "sparse_value value value_float value_floats value_int value_ints value_string value_strings",
     constant},
    {"", "ConstantOfShape", kFirst, kLast, 1, 1, 1, "value", constant_of_shape},
    {"", "Cos", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "CumSum", kFirst, kLast, 2, 2, 1, "exclusive reverse", unary},
    {"", "DequantizeLinear", kFirst, kLast, 2, 3, 1, "axis", dequantize},
    {"", "Div", kFirst, kLast, 2, 2, 1, "", arithmetic},
    {"", "Dropout", kFirst, kLast, 1, 3, 2, "seed", unary},
    {"", "DynamicQuantizeLinear", kFirst, kLast, 1, 1, 3, "", dynamic_quantize},
    {"", "Equal", kFirst, kLast, 2, 2, 1, "", comparison},
    {"", "Erf", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Exp", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Expand", kFirst, kLast, 2, 2, 1, "", expand},
    {"", "Floor", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Gather", kFirst, kLast, 2, 2, 1, "axis", gather},
    {"", "Gelu", 20, 20, 1, 1, 1, "approximate", unary},
    {"", "Gemm", kFirst, kLast, 2, 3, 1, "alpha beta transA transB", gemm},
    {"", "Greater", kFirst, kLast, 2, 2, 1, "", comparison},
    {"", "GreaterOrEqual", kFirst, kLast, 2, 2, 1, "", comparison},
    {"", "Identity", kFirst, kLast, 1, 1, 1, "", identity},
    {"", "If", kFirst, kLast, 1, 1, kAny, "then_branch else_branch", nullptr},
    {"", "IsInf", kFirst, kLast, 1, 1, 1, "detect_negative detect_positive", test},
    {"", "IsNaN", kFirst, kLast, 1, 1, 1, "", test},
    {"", "LayerNormalization", 17, kLast, 2, 3, 3, "axis epsilon stash_type", layer_normalization},
    {"", "Less", kFirst, kLast, 2, 2, 1, "", comparison},
    {"", "LessOrEqual", kFirst, kLast, 2, 2, 1, "", comparison},
    {"", "Log", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "LogSoftmax", kFirst, kLast, 1, 1, 1, "axis", softmax},
    {"", "MatMul", kFirst, kLast, 2, 2, 1, "", mat_mul},
    {"", "MatMulInteger", kFirst, kLast, 2, 4, 1, "", mat_mul_integer},
    {"", "Max", kFirst, kLast, 1, kAny, 1, "", variadic},
    {"", "Min", kFirst, kLast, 1, kAny, 1, "", variadic},
    {"", "Mul", kFirst, kLast, 2, 2, 1, "", arithmetic},
    {"", "Neg", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Not", kFirst, kLast, 1, 1, 1, "", logic},
    {"", "Or", kFirst, kLast, 2, 2, 1, "", logic},
    {"", "Pow", kFirst, kLast, 2, 2, 1, "", power},
    {"", "QuantizeLinear", kFirst, kLast, 2, 3, 1, "axis", quantize},
    {"", "Range", kFirst, kLast, 3, 3, 1, "", range},
    {"", "Reciprocal", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "ReduceMax", kFirst, 17, 1, 1, 1, "axes keepdims", reduce},
    {"", "ReduceMax", 18, kLast, 1, 2, 1, "keepdims noop_with_empty_axes", reduce},
    {"", "ReduceMean", kFirst, 17, 1, 1, 1, "axes keepdims", reduce},
    {"", "ReduceMean", 18, kLast, 1, 2, 1, "keepdims noop_with_empty_axes", reduce},
    {"", "ReduceMin", kFirst, 17, 1, 1, 1, "axes keepdims", reduce},
    {"", "ReduceMin", 18, kLast, 1, 2, 1, "keepdims noop_with_empty_axes", reduce},
    {"", "ReduceSum", kFirst, kLast, 1, 2, 1, "keepdims noop_with_empty_axes", reduce},
    {"", "Relu", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Reshape", kFirst, kLast, 2, 2, 1, "allowzero", reshape},
    {"", "ScatterND", kFirst, 15, 3, 3, 1, "", unary},
    {"", "ScatterND", 16, kLast, 3, 3, 1, "reduction", unary},
    {"", "Shape", kFirst, 14, 1, 1, 1, "", shape_of},
    {"", "Shape", 15, kLast, 1, 1, 1, "start end", shape_of},
    {"", "Sigmoid", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Sin", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Slice", kFirst, kLast, 3, 5, 1, "", slice},
    {"", "Softmax", kFirst, kLast, 1, 1, 1, "axis", softmax},
    {"", "Split", kFirst, 17, 1, 2, kAny, "axis", split},
    {"", "Split", 18, kLast, 1, 2, kAny, "axis num_outputs", split},
    {"", "Sqrt", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Squeeze", kFirst, kLast, 1, 2, 1, "", squeeze},
    {"", "Sub", kFirst, kLast, 2, 2, 1, "", arithmetic},
    {"", "Tanh", kFirst, kLast, 1, 1, 1, "", unary},
    {"", "Tile", kFirst, kLast, 2, 2, 1, "", tile},
    {"", "Transpose", kFirst, kLast, 1, 1, 1, "perm", transpose},
    {"", "Trilu", kFirst, kLast, 1, 2, 1, "upper", unary},
    {"", "Unsqueeze", kFirst, kLast, 2, 2, 1, "", unsqueeze},
    {"", "Where", kFirst, kLast, 3, 3, 1, "", where},
    {kMicrosoft, "DynamicQuantizeMatMul", 1, 1, 3, 5, 1, "", dynamic_mat_mul},
    {kMicrosoft, "FastGelu", 1, 1, 1, 2, 1, "", unary},
    {kMicrosoft, "GatherBlockQuantized", 1, 1, 3, 4, 1, "bits block_size gather_axis quantize_axis",
     block_gather},
    {kMicrosoft, "Gelu", 1, 1, 1, 1, 1, "", unary},
    {kMicrosoft, "GroupQueryAttention", 1, 1, 3, kAny, kAny, "*", group_query_attention},
    {kMicrosoft, "MatMulIntegerToFloat", 1, 1, 4, 7, 1, "", mat_mul_integer},
    {kMicrosoft, "MatMulNBits", 1, 1, 3, 6, 1, "K N accuracy_level bits block_size", block_product},
    {kMicrosoft, "MultiHeadAttention", 1, 1, 1, kAny, kAny, "*", multi_head_attention},
    {kMicrosoft, "QuickGelu", 1, 1, 1, 1, 1, "alpha", unary},
};

}  // namespace

std::span<const OperatorForm> operator_forms() { return kForms; }

}  // namespace sampan::graph
