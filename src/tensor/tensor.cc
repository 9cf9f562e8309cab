#include "tensor/tensor.h"

#include <fmt/ranges.h>

#include <bit>
#include <cstring>

#include "base/fail.h"

namespace sampan::tensor {
namespace {

struct DTypeFacts {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

constexpr DTypeFacts kFacts[] = {
    {DType::kF32, "F32", 4},   {DType::kF16, "F16", 2}, {DType::kBF16, "BF16", 2},
    {DType::kF64, "F64", 8},   {DType::kI64, "I64", 8}, {DType::kI32, "I32", 4},
    {DType::kI16, "I16", 2},   {DType::kI8, "I8", 1},   {DType::kU8, "U8", 1},
    {DType::kBool, "BOOL", 1},
};

const DTypeFacts& facts(DType dtype) noexcept { return kFacts[static_cast<std::size_t>(dtype)]; }

template <typename Stored, typename Element, typename Convert>
void convert(std::span<const std::byte> bytes, std::span<Element> out, Convert to_element) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = to_element(stored);
  }
}

template <typename Stored>
void widen(std::span<const std::byte> bytes, std::span<std::int64_t> out) {
  convert<Stored>(bytes, out, [](Stored value) { return static_cast<std::int64_t>(value); });
}

void check_count(const TensorView& source, std::size_t elements) {
  if (source.data.size() != elements * size_of(source.dtype))
    base::fail(ErrorCode::kInternal, "{} bytes of {} do not hold {} elements", source.data.size(),
               name_of(source.dtype), elements);
}

}  // namespace

std::size_t size_of(DType dtype) noexcept { return facts(dtype).size; }
std::string_view name_of(DType dtype) noexcept { return facts(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) noexcept {
  for (const DTypeFacts& entry : kFacts)
    if (entry.name == name) return entry.dtype;
  return std::nullopt;
}

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return count;
}

std::string to_string(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void to_floats(const TensorView& source, std::span<float> out) {
  check_count(source, out.size());
  switch (source.dtype) {
    case DType::kF32:
      if (!out.empty()) std::memcpy(out.data(), source.data.data(), source.data.size());
      return;
    case DType::kF16:
      return convert<std::uint16_t>(source.data, out, half_to_float);
    case DType::kBF16:
      return convert<std::uint16_t>(source.data, out, bfloat16_to_float);
    case DType::kF64:
      return convert<double>(source.data, out, [](double v) { return static_cast<float>(v); });
    default:
      base::fail(ErrorCode::kUnsupported, "cannot read {} elements as floats",
                 name_of(source.dtype));
  }
}

void to_integers(const TensorView& source, std::span<std::int64_t> out) {
  check_count(source, out.size());
  switch (source.dtype) {
    case DType::kI64:
      return widen<std::int64_t>(source.data, out);
    case DType::kI32:
      return widen<std::int32_t>(source.data, out);
    case DType::kI16:
      return widen<std::int16_t>(source.data, out);
    case DType::kI8:
      return widen<std::int8_t>(source.data, out);
    case DType::kU8:
    case DType::kBool:
      return widen<std::uint8_t>(source.data, out);
    default:
      base::fail(ErrorCode::kUnsupported, "cannot read {} elements as integers",
                 name_of(source.dtype));
  }
}

float half_to_float(std::uint16_t bits) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {  // zero and subnormal: mantissa * 2^-24 is exact in binary32
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t exponent32 = exponent == 0x1f ? 0xffu : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (exponent32 << 23) | (mantissa << 13));
}

std::uint16_t float_to_half(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;             // NaN
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;            // rounds to infinity
  if (magnitude < 0x38800000u) {                                  // subnormal: let the FPU round
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;  // ulp of 0.5 is 2^-24
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(scaled) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  const std::uint32_t rebased = magnitude - ((127u - 15u) << 23);
  return static_cast<std::uint16_t>(sign | ((rebased + 0xfffu + odd) >> 13));
}

float bfloat16_to_float(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace sampan::tensor
