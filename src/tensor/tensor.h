#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::tensor {

/// Element types of checkpoints and ONNX graphs.
enum class DType { kF32, kF16, kBF16, kF64, kI64, kI32, kI16, kI8, kU8, kBool };

/// Bytes of one element.
std::size_t size_of(DType dtype) noexcept;
/// safetensors' name: "F32", "F16", "BF16", "F64", "I64", "I32", "I16", "I8", "U8", "BOOL".
std::string_view name_of(DType dtype) noexcept;
/// The inverse of `name_of`; nothing for an unknown name.
std::optional<DType> dtype_from_name(std::string_view name) noexcept;

/// Extents of each axis, outermost first; an empty shape is a scalar.
using Shape = std::vector<std::int64_t>;

/// Product of the extents, or nothing if an extent is negative or the product overflows.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) noexcept;
/// "[9821, 256]".
std::string to_string(std::span<const std::int64_t> shape);

/// A borrowed row-major, gap-free tensor. `data` may be unaligned: read it with memcpy or through
/// `to_floats`. Whoever made the view says how long the bytes live.
struct TensorView {
  DType dtype = DType::kF32;
  Shape shape;
  std::span<const std::byte> data;
};

/// Converts F32, F16, BF16 or F64 elements to float. `out.size()` is the number of elements.
/// Throws `Error` kUnsupported for other types.
void to_floats(const TensorView& source, std::span<float> out);

/// Widens I64, I32, I16, I8, U8 or BOOL elements. `out.size()` is the number of elements. Throws
/// `Error` kUnsupported for other types.
void to_integers(const TensorView& source, std::span<std::int64_t> out);

float half_to_float(std::uint16_t bits) noexcept;   ///< IEEE 754 binary16
std::uint16_t float_to_half(float value) noexcept;  ///< rounds to nearest even
float bfloat16_to_float(std::uint16_t bits) noexcept;

}  // namespace sampan::tensor
