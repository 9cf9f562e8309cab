#include "tensor/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/byte_cursor.h"
#include "base/fail.h"
#include "base/printable.h"

namespace sampan::tensor {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kSuffix = ".npy";
constexpr std::uint64_t kLongestHeader = 65536;
constexpr std::size_t kMostAxes = 64;  // NumPy's own limit
constexpr std::size_t kMostDigits = 18;

/// What messages name.
struct Place {
  std::string_view name;
  const std::filesystem::path& file;

  [[noreturn]] void refuse(std::string_view problem) const {
    base::fail(ErrorCode::kInvalidData, "{}: array '{}' {}; write the file again", file.string(),
               base::printable(name), problem);
  }
};

struct Header {
  std::optional<std::string> descr;  // nothing for a list of fields
  bool column_major = false;
  Shape shape;
};

/// Reads the one form of Python literal that an .npy header is: a dictionary of a text or list, a
/// truth value and a tuple of numbers.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const Place& place) : text_(text), place_(place) {}

  Header parse() {
    Header header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(has_descr, true))
        header.descr = descr();
      else if (key == "fortran_order" && !std::exchange(has_order, true))
        header.column_major = truth();
      else if (key == "shape" && !std::exchange(has_shape, true))
        header.shape = shape();
      else
        damaged();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size() || !has_descr || !has_order || !has_shape) damaged();
    return header;
  }

 private:
  [[noreturn]] void damaged() const {
    place_.refuse(
        fmt::format("has a header that NumPy does not write: '{}'", base::printable(text_)));
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \n", at_), text_.size()); }
  bool accept(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) damaged();
  }
  bool accept_word(std::string_view word) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) damaged();
    std::string content(text_.substr(at_, end - at_));
    at_ = end + 1;
    return content;
  }

  std::optional<std::string> descr() {
    if (!accept('[')) return quoted();
    // The fields of a record: passed over, since no type here has any.
    for (std::size_t depth = 1; depth > 0; ++at_) {
      if (at_ == text_.size()) damaged();
      if (text_[at_] == '[') ++depth;
      if (text_[at_] == ']') --depth;
    }
    return std::nullopt;
  }

  bool truth() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) damaged();
    return false;
  }

  Shape shape() {
    Shape extents;
    expect('(');
    while (!accept(')')) {
      if (extents.size() == kMostAxes) damaged();
      extents.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }

  std::int64_t number() {
    skip_blanks();
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits) {
      if (digits == kMostDigits) damaged();
      value = value * 10 + (text_[at_] - '0');
    }
    if (digits == 0) damaged();
    return value;
  }

  std::string_view text_;
  const Place& place_;
  std::size_t at_ = 0;
};

DType dtype_of(const Header& header, const Place& place) {
  constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"<f4", DType::kF32}, {"<f2", DType::kF16}, {"<f8", DType::kF64},
      {"<i8", DType::kI64}, {"<i4", DType::kI32}, {"<i2", DType::kI16},
      {"|i1", DType::kI8},  {"|u1", DType::kU8},  {"|b1", DType::kBool}};
  const std::string descr = header.descr.value_or("a record");
  for (const auto& [name, dtype] : kTypes)
    if (name == descr) return dtype;
  base::fail(ErrorCode::kUnsupported,
             "{}: array '{}' holds elements of type {}, which is not supported; convert it to "
             "float32 or int64",
             place.file.string(), base::printable(place.name), base::printable(descr));
}

/// The elements of a column-major array in row-major order.
std::vector<std::byte> to_row_major(Bytes columns, const Shape& shape, std::size_t element) {
  std::vector<std::byte> rows(columns.size());
  std::vector<std::size_t> strides;  // in bytes, of each axis in `columns`
  std::size_t stride = element;
  for (const std::int64_t extent : shape) {
    strides.push_back(stride);
    stride *= static_cast<std::size_t>(extent);
  }
  Shape index(shape.size(), 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < rows.size(); to += element) {
    std::memcpy(rows.data() + to, columns.data() + from, element);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return rows;
}

std::string_view read_header_text(base::ByteCursor& cursor, const Place& place) {
  if (cursor.text(kMagic.size()) != kMagic) place.refuse("does not begin as NumPy's files do");
  const auto major = cursor.little_endian<std::uint8_t>();
  cursor.take(1);  // the minor version
  if (major < 1 || major > 3)
    base::fail(ErrorCode::kUnsupported,
               "{}: array '{}' has version {} of NumPy's format; 1 to 3 are supported: save it "
               "with another NumPy",
               place.file.string(), base::printable(place.name), major);
  const std::uint64_t length = major == 1 ? std::uint64_t{cursor.little_endian<std::uint16_t>()}
                                          : std::uint64_t{cursor.little_endian<std::uint32_t>()};
  if (length > kLongestHeader)
    place.refuse(fmt::format("claims a header of {} bytes, more than {}", length, kLongestHeader));
  return cursor.text(length);
}

}  // namespace

Array read_npy(Bytes bytes, std::string_view name, const std::filesystem::path& file) {
  const Place place{name, file};
  base::ByteCursor cursor(bytes, file, "an array");
  const Header header = HeaderParser(read_header_text(cursor, place), place).parse();
  Array array{dtype_of(header, place), header.shape, {}};
  const std::size_t element = size_of(array.dtype);
  const auto count = element_count(array.shape);
  // Divided rather than multiplied: a product could overflow.
  if (!count || cursor.remaining() % element != 0 ||
      static_cast<std::uint64_t>(*count) != cursor.remaining() / element)
    place.refuse(fmt::format("has {} bytes of data, which are not the elements of its shape {}",
                             cursor.remaining(), to_string(array.shape)));
  const Bytes data = cursor.take(cursor.remaining());
  if (header.column_major && array.shape.size() > 1)
    array.data = to_row_major(data, array.shape, element);
  else
    array.data.assign(data.begin(), data.end());
  return array;
}

NpzFile::NpzFile(const std::filesystem::path& path)
    : file_(path), archive_(file_.bytes(), file_.path()) {}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : archive_.entries())
    if (name.ends_with(kSuffix)) names.push_back(name.substr(0, name.size() - kSuffix.size()));
  std::ranges::sort(names);
  return names;
}

bool NpzFile::contains(std::string_view name) const {
  return archive_.find(std::string(name).append(kSuffix)) != nullptr;
}

Array NpzFile::read(std::string_view name) const {
  const base::ZipEntry* entry = archive_.find(std::string(name).append(kSuffix));
  if (entry == nullptr) {
    const auto all = names();
    base::fail(ErrorCode::kNotFound, "{}: has no array '{}'; it has: {}", file_.path().string(),
               base::printable(name), base::printable(fmt::format("{}", fmt::join(all, ", "))));
  }
  if (entry->size > kMostUnpacked)
    base::fail(ErrorCode::kResourceExhausted,
               "{}: array '{}' has {} bytes, more than {}; save fewer rows", file_.path().string(),
               base::printable(name), entry->size, kMostUnpacked);
  return read_npy(base::read_entry(*entry, name, file_.path()), name, file_.path());
}

}  // namespace sampan::tensor
