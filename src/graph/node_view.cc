#include <fmt/format.h>

#include "graph/external_data.h"
#include "graph/shape_rules.h"

namespace sampan::graph {
namespace {

std::vector<Extent> extents_of(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

InferredValue value_of(const Initializer& initializer) {
  InferredValue result{initializer.dtype, extents_of(initializer.shape), {}};
  const bool is_short = initializer.shape.empty() ||
                        (initializer.shape.size() == 1 && initializer.shape.front() >= 0 &&
                         initializer.shape.front() <= kLongestContent);
  const bool is_whole =
      initializer.dtype == tensor::DType::kI64 || initializer.dtype == tensor::DType::kI32;
  if (!is_short || !is_whole || std::holds_alternative<ExternalData>(initializer.data))
    return result;
  std::vector<std::byte> bytes(byte_size(initializer));
  copy_bytes(initializer, bytes);
  std::vector<std::int64_t> values(bytes.size() / tensor::size_of(initializer.dtype));
  tensor::to_integers({initializer.dtype, initializer.shape, bytes}, values);
  result.content = extents_of(values);
  return result;
}

const InferredValue& NodeView::in(std::size_t input) const {
  static const InferredValue nothing;
  return has(input) ? inputs_[input] : nothing;
}

const AttributeValue* NodeView::attribute(std::string_view name) const {
  for (const auto& [known, value] : node_.attributes)
    if (known == name) return &value;
  return nullptr;
}

std::int64_t NodeView::integer(std::string_view name, std::int64_t otherwise) const {
  const AttributeValue* const value = attribute(name);
  if (value == nullptr) return otherwise;
  const auto* const number = std::get_if<std::int64_t>(value);
  if (number == nullptr) throw Contradiction{fmt::format("its attribute '{}' is no integer", name)};
  return *number;
}

std::optional<std::vector<std::int64_t>> NodeView::integers(std::string_view name) const {
  const AttributeValue* const value = attribute(name);
  if (value == nullptr) return std::nullopt;
  const auto* const list = std::get_if<std::vector<std::int64_t>>(value);
  if (list == nullptr)
    throw Contradiction{fmt::format("its attribute '{}' is no list of integers", name)};
  return *list;
}

}  // namespace sampan::graph
