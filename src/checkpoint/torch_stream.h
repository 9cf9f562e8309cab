#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "checkpoint/tensor_store.h"

namespace sampan::checkpoint {

/// Whether bytes begin as torch's older container does.
bool begins_like_torch_stream(std::span<const std::byte> bytes);

/// Reads torch's older container, what published opus-mt checkpoints are in. One after the other:
/// four pickles - a magic number, the protocol version 1001, a description of the system, the state
/// dictionary - then a pickled list of storage keys, then for each key, in that order, the number
/// of elements (64-bit little-endian) and the elements themselves. Throws and borrows as
/// `read_torch_file` does.
void read_torch_stream(std::span<const std::byte> bytes, const std::filesystem::path& file,
                       TensorStore& store);

}  // namespace sampan::checkpoint
