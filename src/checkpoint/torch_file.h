#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "checkpoint/tensor_store.h"

namespace sampan::checkpoint {

/// Adds the tensors of a state dictionary saved by torch (`pytorch_model.bin`) to `store`, as views
/// into `bytes` wherever the container allows; `bytes` must outlive the store. `file` is what
/// messages name. Both containers are read: the zip archive of torch 1.6 and later, and the older
/// stream.
///
/// Nothing of the pickle is run: it may hold tensors, dictionaries, lists, tuples, numbers and
/// texts, and is refused by the name of anything else. Throws `Error`: kInvalidData (damaged,
/// truncated, hostile, big-endian), kUnsupported (TorchScript, quantised or sparse tensors, other
/// containers), kResourceExhausted (a zip bomb, a tiny storage expanded to a huge tensor).
void read_torch_file(std::span<const std::byte> bytes, const std::filesystem::path& file,
                     TensorStore& store);

}  // namespace sampan::checkpoint
