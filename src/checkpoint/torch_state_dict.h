#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/tensor_store.h"
#include "checkpoint/unpickler.h"
#include "tensor/tensor.h"

namespace sampan::checkpoint {

/// A storage of a torch file: the elements that one or several tensors show parts of.
struct TorchStorage {
  tensor::DType dtype = tensor::DType::kF32;
  std::int64_t elements = 0;
  std::span<const std::byte> bytes;  ///< filled in by whoever reads the container
};

/// Storages by torch's key.
using TorchStorages = std::map<std::string, TorchStorage, std::less<>>;

/// Reads a pickle of torch: those globals are allowed that tensors and state dictionaries are made
/// of. Throws as `unpickle` does.
Pickle unpickle_torch(std::span<const std::byte> bytes, const std::filesystem::path& file);

/// The storages that a pickled state dictionary refers to, their bytes not filled in. Throws
/// `Error`: kInvalidData, also for a storage that two tensors give different types or sizes;
/// kUnsupported for a storage type that `tensor::DType` lacks.
TorchStorages find_storages(const Pickle& pickle, const std::filesystem::path& file);

/// Adds the tensors of a pickled state dictionary to `store`. A row-major, gap-free tensor becomes
/// a view into its storage, so tensors that share one stay shared; any other (transposed, expanded,
/// a slice of columns) is copied, once for all tensors that show the same part the same way. All
/// copies together may take what all storages take and 64 MB. Throws `Error`: kInvalidData for what
/// is no state dictionary and for tensors that leave their storage; kUnsupported.
void add_state_dict(const Pickle& pickle, const TorchStorages& storages,
                    const std::filesystem::path& file, TensorStore& store);

}  // namespace sampan::checkpoint
