#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "graph/model.h"

/// Weights outside the model file (ONNX's external data), written and read one at a time.
namespace sampan::graph {

/// Takes the bytes of a file, in order.
using ByteSink = std::function<void(std::span<const std::byte>)>;

/// Says where a weight's bytes go when a model is written: a place in another file, or nothing for
/// inside the model.
using WeightSink = std::function<std::optional<ExternalData>(const Initializer&)>;

/// Bytes that an initializer's type and shape ask for. Throws `Error` kInvalidData for a negative
/// extent or a product that does not fit.
std::uint64_t byte_size(const Initializer& initializer);

/// Makes the bytes of an initializer; `out` has `byte_size` bytes. Throws `Error` kInternal for one
/// whose bytes lie in another file (`open_external_data` first).
void copy_bytes(const Initializer& initializer, std::span<std::byte> out);

/// Hands the bytes of an initializer to `sink`, without a copy where they are borrowed.
void write_bytes(const Initializer& initializer, const ByteSink& sink);

/// Streams weights into one data file, each name once, however many models refer to it:
///
///     DataWriter weights("model.onnx_data", file);
///     for (const Model* model : models)
///       write_model(*model, sink_of(*model),
///                   [&](const Initializer& initializer) { return weights.place(initializer); });
///
/// Offsets are multiples of 64, and of 4096 for weights of 64 KiB and more, so that a runtime can
/// map them; the gaps are zero. One weight is in memory at a time. Initializers that borrow the
/// same bytes of the same owner, under whatever names and shapes, are written once. Not
/// thread-safe.
class DataWriter {
 public:
  /// Initializers below this many bytes stay in the models: a runtime reads shapes at load time.
  static constexpr std::uint64_t kInlineBelow = 1024;

  /// `location` is the data file's path relative to the models.
  DataWriter(std::string location, ByteSink sink);

  /// Writes the initializer, unless one of its name was written, and tells its place; nothing for a
  /// small one. Throws `Error` kInternal when a name comes back with another type or shape, and
  /// what the sink throws.
  std::optional<ExternalData> place(const Initializer& initializer);

  /// Bytes written so far.
  std::uint64_t size() const noexcept { return size_; }

 private:
  struct Written {
    tensor::DType dtype;
    tensor::Shape shape;
    ExternalData place;
  };

  /// Bytes that several initializers borrow; the owner keeps their address from being used again.
  struct Borrowed {
    std::shared_ptr<const void> owner;
    ExternalData place;
  };
  using Span = std::pair<const std::byte*, std::uint64_t>;

  ExternalData append(const Initializer& initializer, std::uint64_t length);
  void pad_to(std::uint64_t alignment);

  std::string location_;
  ByteSink sink_;
  std::uint64_t size_ = 0;
  std::map<std::string, Written, std::less<>> written_;
  std::map<Span, Borrowed> borrowed_;
};

/// Replaces every `ExternalData` of a model that was read from `model_file` by a view of the mapped
/// data file, which stays mapped as long as the model. Throws `Error`: kInvalidData for a location
/// that is absolute or leaves the model's folder (also through a symbolic link), a place outside
/// the file, or a length that is not the shape's; kNotFound for a data file that is missing.
void open_external_data(Model& model, const std::filesystem::path& model_file);

}  // namespace sampan::graph
