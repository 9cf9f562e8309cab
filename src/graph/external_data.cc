#include "graph/external_data.h"

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/contained_path.h"
#include "base/fail.h"
#include "base/mapped_file.h"

namespace sampan::graph {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kPageAlignment = 4096;
constexpr std::uint64_t kPageAlignedFrom = 64 * 1024;

constexpr std::array<std::byte, kPageAlignment> kZeros{};

}  // namespace

std::uint64_t byte_size(const Initializer& initializer) {
  const auto count = tensor::element_count(initializer.shape);
  std::uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(static_cast<std::uint64_t>(*count),
                                       tensor::size_of(initializer.dtype), &bytes))
    base::fail(ErrorCode::kInvalidData, "initializer '{}': no tensor has the shape {}",
               initializer.name, tensor::to_string(initializer.shape));
  return bytes;
}

void copy_bytes(const Initializer& initializer, std::span<std::byte> out) {
  const auto copy_from = [&](std::span<const std::byte> bytes) {
    if (bytes.size() != out.size())
      base::fail(ErrorCode::kInternal, "initializer '{}': {} bytes where its shape asks for {}",
                 initializer.name, bytes.size(), out.size());
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size());
  };
  if (const auto* bytes = std::get_if<std::vector<std::byte>>(&initializer.data)) {
    copy_from(*bytes);
  } else if (const auto* borrowed = std::get_if<BorrowedBytes>(&initializer.data)) {
    copy_from(borrowed->bytes);
  } else if (const auto* source = std::get_if<DataSource>(&initializer.data)) {
    if (!*source)
      base::fail(ErrorCode::kInternal, "initializer '{}' has no data source", initializer.name);
    (*source)(out);
  } else {
    base::fail(ErrorCode::kInternal, "initializer '{}': its external data is not open",
               initializer.name);
  }
}

void write_bytes(const Initializer& initializer, const ByteSink& sink) {
  const std::uint64_t size = byte_size(initializer);
  if (size == 0) return;
  if (const auto* borrowed = std::get_if<BorrowedBytes>(&initializer.data);
      borrowed != nullptr && borrowed->bytes.size() == size)
    return sink(borrowed->bytes);
  std::vector<std::byte> bytes(size);
  copy_bytes(initializer, bytes);
  sink(bytes);
}

DataWriter::DataWriter(std::string location, ByteSink sink)
    : location_(std::move(location)), sink_(std::move(sink)) {}

std::optional<ExternalData> DataWriter::place(const Initializer& initializer) {
  const std::uint64_t length = byte_size(initializer);
  if (length < kInlineBelow) return std::nullopt;
  if (const auto found = written_.find(initializer.name); found != written_.end()) {
    if (found->second.dtype != initializer.dtype || found->second.shape != initializer.shape)
      base::fail(ErrorCode::kInternal,
                 "initializer '{}' is {} {} in one graph and {} {} in another", initializer.name,
                 tensor::name_of(found->second.dtype), tensor::to_string(found->second.shape),
                 tensor::name_of(initializer.dtype), tensor::to_string(initializer.shape));
    return found->second.place;
  }
  const ExternalData place = append(initializer, length);
  written_.emplace(initializer.name, Written{initializer.dtype, initializer.shape, place});
  return place;
}

ExternalData DataWriter::append(const Initializer& initializer, std::uint64_t length) {
  const auto* borrowed = std::get_if<BorrowedBytes>(&initializer.data);
  const bool is_owned = borrowed != nullptr && borrowed->owner != nullptr;
  const Span span(is_owned ? borrowed->bytes.data() : nullptr, length);
  if (is_owned)
    if (const auto found = borrowed_.find(span); found != borrowed_.end())
      return found->second.place;
  pad_to(length >= kPageAlignedFrom ? kPageAlignment : kAlignment);
  ExternalData place{location_, size_, length};
  write_bytes(initializer, sink_);
  size_ += length;
  if (is_owned) borrowed_.emplace(span, Borrowed{borrowed->owner, place});
  return place;
}

void DataWriter::pad_to(std::uint64_t alignment) {
  const std::uint64_t gap = (alignment - size_ % alignment) % alignment;
  if (gap == 0) return;
  sink_(std::span(kZeros).first(gap));
  size_ += gap;
}

namespace {

/// The data files of one folder, each mapped once.
class DataFolder {
 public:
  explicit DataFolder(const std::filesystem::path& model_file) : model_file_(model_file) {}

  BorrowedBytes view(const std::string& initializer, const ExternalData& place,
                     std::uint64_t expected) {
    const std::shared_ptr<const base::MappedFile> file = open(place.location);
    const std::uint64_t size = file->bytes().size();
    if (place.length != expected)
      base::fail(ErrorCode::kInvalidData,
                 "{}: initializer '{}' has {} bytes where its shape asks for {}; export it again",
                 file->path().string(), initializer, place.length, expected);
    if (place.offset > size || place.length > size - place.offset)
      base::fail(ErrorCode::kInvalidData,
                 "{}: initializer '{}' takes {} bytes from offset {}, but the file has {}; it is "
                 "truncated or does not belong to the model",
                 file->path().string(), initializer, place.length, place.offset, size);
    return {file->bytes().subspan(place.offset, place.length), file};
  }

 private:
  std::shared_ptr<const base::MappedFile> open(const std::string& location) {
    auto& file = files_[location];
    if (file == nullptr)
      file = std::make_shared<base::MappedFile>(
          base::contained_path(model_file_.parent_path(), location, model_file_));
    return file;
  }

  std::filesystem::path model_file_;
  std::map<std::string, std::shared_ptr<const base::MappedFile>> files_;
};

void open_tensor(Initializer& initializer, DataFolder& folder) {
  if (const auto* place = std::get_if<ExternalData>(&initializer.data))
    initializer.data = folder.view(initializer.name, *place, byte_size(initializer));
}

void open_graph(Graph& graph, DataFolder& folder) {
  for (Initializer& initializer : graph.initializers) open_tensor(initializer, folder);
  for (Node& node : graph.nodes)
    for (auto& [name, value] : node.attributes) {
      if (auto* tensor = std::get_if<Initializer>(&value)) {
        open_tensor(*tensor, folder);
      } else if (auto* branch = std::get_if<std::shared_ptr<const Graph>>(&value)) {
        auto opened = std::make_shared<Graph>(**branch);
        open_graph(*opened, folder);
        *branch = std::move(opened);
      }
    }
}

}  // namespace

void open_external_data(Model& model, const std::filesystem::path& model_file) {
  DataFolder files(model_file);
  open_graph(model.graph, files);
}

}  // namespace sampan::graph
