#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "checkpoint/tensor_store.h"

namespace sampan::checkpoint {

/// Adds the tensors of a safetensors file to `store`, as views into `bytes`, which must outlive the
/// store. `file` is what messages name.
///
/// The format: a 64-bit little-endian header length; that many bytes of JSON giving each tensor's
/// dtype, shape and [begin, end) in the data; the data, covered by the tensors without gaps or
/// overlaps. Throws `Error`: kInvalidData (not that, or truncated), kUnsupported (a dtype that
/// `tensor::DType` lacks).
void read_safetensors(std::span<const std::byte> bytes, const std::filesystem::path& file,
                      TensorStore& store);

}  // namespace sampan::checkpoint
