#include "checkpoint/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/foreign_content.h"
#include "base/printable.h"
#include "checkpoint/json_value.h"

namespace sampan::checkpoint {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit
constexpr std::size_t kMostAxes = 64;

struct Entry {
  std::string name;
  tensor::DType dtype = tensor::DType::kF32;
  tensor::Shape shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

class HeaderReader {
 public:
  explicit HeaderReader(const std::filesystem::path& file) : file_(file) {}

  Entry read(std::string name, const JsonValue& value) const {
    Entry entry;
    entry.name = std::move(name);
    const JsonObject* fields = value.as<JsonObject>();
    if (fields == nullptr) refuse(entry.name, "is described by " + describe(value));
    entry.dtype = read_dtype(entry.name, *fields);
    entry.shape = read_integers(entry.name, *fields, "shape");
    const tensor::Shape offsets = read_integers(entry.name, *fields, "data_offsets");
    if (offsets.size() != 2)
      refuse(entry.name, "has data_offsets " + tensor::to_string(offsets) + ", not two numbers");
    entry.begin = offsets[0];
    entry.end = offsets[1];
    check_size(entry);
    return entry;
  }

  [[noreturn]] void refuse(std::string_view name, std::string_view problem) const {
    base::fail(ErrorCode::kInvalidData, "{}: tensor '{}' {}; download the file again",
               file_.string(), base::printable(name), problem);
  }

 private:
  const JsonValue& field(std::string_view name, const JsonObject& fields,
                         std::string_view key) const {
    const JsonValue* value = find_member(fields, key);
    if (value == nullptr) refuse(name, "has no '" + std::string(key) + "'");
    return *value;
  }

  tensor::DType read_dtype(std::string_view name, const JsonObject& fields) const {
    const JsonValue& value = field(name, fields, "dtype");
    const std::string* text = value.as<std::string>();
    const auto dtype = text ? tensor::dtype_from_name(*text) : std::nullopt;
    if (!dtype)
      base::fail(ErrorCode::kUnsupported,
                 "{}: tensor '{}' has the dtype {}, which is not "
                 "supported; convert the checkpoint to F32, F16 or BF16",
                 file_.string(), base::printable(name), describe(value));
    return *dtype;
  }

  tensor::Shape read_integers(std::string_view name, const JsonObject& fields,
                              std::string_view key) const {
    const JsonValue& value = field(name, fields, key);
    const JsonArray* items = value.as<JsonArray>();
    if (items == nullptr || items->size() > kMostAxes)
      refuse(name, "has the " + std::string(key) + " " + describe(value));
    tensor::Shape integers;
    for (const JsonValue& item : *items) {
      const std::int64_t* integer = item.as<std::int64_t>();
      if (integer == nullptr || *integer < 0)
        refuse(name, "has the " + std::string(key) + " " + describe(value));
      integers.push_back(*integer);
    }
    return integers;
  }

  void check_size(const Entry& entry) const {
    const auto count = tensor::element_count(entry.shape);
    std::int64_t bytes = 0;
    if (!count || __builtin_mul_overflow(
                      *count, static_cast<std::int64_t>(tensor::size_of(entry.dtype)), &bytes))
      refuse(entry.name, "has the impossible shape " + tensor::to_string(entry.shape));
    if (entry.end < entry.begin || entry.end - entry.begin != bytes)
      refuse(entry.name, "needs " + std::to_string(bytes) + " bytes for " +
                             std::string(tensor::name_of(entry.dtype)) +
                             tensor::to_string(entry.shape) + " but has data_offsets " +
                             tensor::to_string(tensor::Shape{entry.begin, entry.end}));
  }

  const std::filesystem::path& file_;
};

std::uint64_t header_length(std::span<const std::byte> bytes, const std::filesystem::path& file) {
  if (bytes.size() < kLengthBytes)
    base::fail(ErrorCode::kInvalidData,
               "{}: only {} bytes long, too short for a safetensors file; "
               "download it again",
               file.string(), bytes.size());
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  const std::size_t rest = bytes.size() - kLengthBytes;
  if (length > kLongestHeader || length > rest)
    base::fail(ErrorCode::kInvalidData,
               "{}: says its header is {} bytes long, of {} bytes that "
               "follow and {} allowed: not a safetensors file, or truncated; download it again",
               file.string(), length, rest, kLongestHeader);
  return length;
}

// The data must be covered exactly: a gap or an overlap is a damaged or forged file.
void check_coverage(std::vector<Entry>& entries, std::size_t data_size,
                    const HeaderReader& reader) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::int64_t expected = 0;
  for (const Entry& entry : entries) {
    if (static_cast<std::uint64_t>(entry.end) > data_size)
      reader.refuse(entry.name, "ends at byte " + std::to_string(entry.end) + " of " +
                                    std::to_string(data_size) +
                                    " bytes of data: the file is truncated or damaged");
    if (entry.begin != expected)
      reader.refuse(entry.name, "begins at byte " + std::to_string(entry.begin) +
                                    " of the data where byte " + std::to_string(expected) +
                                    " is next: tensors overlap or leave a gap");
    expected = entry.end;
  }
}

}  // namespace

void read_safetensors(std::span<const std::byte> bytes, const std::filesystem::path& file,
                      TensorStore& store) {
  base::refuse_foreign_content(bytes, file);
  const std::size_t header_size = static_cast<std::size_t>(header_length(bytes, file));
  const std::span header = bytes.subspan(kLengthBytes, header_size);
  const std::span data = bytes.subspan(kLengthBytes + header_size);
  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());

  const HeaderReader reader(file);
  std::vector<Entry> entries;
  for (auto& [name, value] : parse_json_object(text, file))
    if (name != "__metadata__") entries.push_back(reader.read(name, value));
  check_coverage(entries, data.size(), reader);
  const std::int64_t covered = entries.empty() ? 0 : entries.back().end;
  if (static_cast<std::uint64_t>(covered) != data.size())
    base::fail(ErrorCode::kInvalidData,
               "{}: {} bytes of data follow the header, but its tensors "
               "cover {}; download the file again",
               file.string(), data.size(), covered);
  for (Entry& entry : entries) {
    const auto begin = static_cast<std::size_t>(entry.begin);
    const auto size = static_cast<std::size_t>(entry.end - entry.begin);
    store.add(std::move(entry.name),
              {entry.dtype, std::move(entry.shape), data.subspan(begin, size)}, file);
  }
}

}  // namespace sampan::checkpoint
