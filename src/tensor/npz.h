#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/zip_archive.h"
#include "tensor/tensor.h"

/// NumPy's files, as numpy.lib.format describes them (versions 1 to 3).
namespace sampan::tensor {

/// An array with bytes of its own, row-major whatever the order in the file was.
struct Array {
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<std::byte> data;

  TensorView view() const { return {dtype, shape, data}; }
};

/// Reads a whole .npy file. `name` and `file` are what messages name. Throws `Error`: kInvalidData
/// for damaged or forged bytes; kUnsupported for element types that `DType` lacks: big-endian ones,
/// texts, objects, records.
Array read_npy(std::span<const std::byte> bytes, std::string_view name,
               const std::filesystem::path& file);

/// The arrays of an .npz file, as numpy.savez and numpy.savez_compressed write it. Each is read
/// when it is asked for, so that arrays of no interest may be of any type. Thread-safe.
class NpzFile {
 public:
  /// Most bytes that one array may unpack to.
  static constexpr std::uint64_t kMostUnpacked = std::uint64_t{4} << 30;

  /// Throws `Error`: as `base::MappedFile` and `base::ZipArchive` do.
  explicit NpzFile(const std::filesystem::path& path);
  NpzFile(NpzFile&&) = default;
  NpzFile& operator=(NpzFile&&) = default;

  /// Of all arrays, sorted, without ".npy".
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;
  /// Throws `Error`: kNotFound; kResourceExhausted beyond `kMostUnpacked`; what `base::read_entry`
  /// and `read_npy` throw.
  Array read(std::string_view name) const;

 private:
  base::MappedFile file_;
  base::ZipArchive archive_;
};

}  // namespace sampan::tensor
