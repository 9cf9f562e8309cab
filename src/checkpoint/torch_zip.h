#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "checkpoint/tensor_store.h"

namespace sampan::checkpoint {

/// Reads torch's zip container (1.6 and later): in one folder of any name, `data.pkl` with the
/// state dictionary, `data/KEY` with each storage, and `byteorder`. Stored entries, all that torch
/// writes, become views; deflated ones, of archives packed again by others, are unpacked, all
/// together to at most 16 times the file and 64 MB. Throws and borrows as `read_torch_file` does.
void read_torch_zip(std::span<const std::byte> bytes, const std::filesystem::path& file,
                    TensorStore& store);

}  // namespace sampan::checkpoint
