#include "checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "support/caught_error.h"

namespace sampan::checkpoint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) file += static_cast<char>(length >> shift & 0xff);
  return file + rest;
}

std::string file_of(const std::string& header, std::size_t data) {
  return with_length(header.size(), header + std::string(data, '\x01'));
}

Error error_of(const std::string& file) {
  return test::caught_error([&] {
    TensorStore store;
    read_safetensors(bytes_of(file), "dir/model.safetensors", store);
  });
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(": {"dtype": ")" + dtype + R"(", "shape": )" + shape +
         R"(, "data_offsets": )" + offsets + "}";
}

TEST(Safetensors, TensorsAreViewsIntoTheFile) {
  const std::string file = file_of(
      "{" + entry("b", "F16", "[2, 1]", "[4, 8]") + "," + entry("a", "F32", "[]", "[0, 4]") + "," +
          entry("empty", "F32", "[0]", "[8, 8]") + R"(, "__metadata__": {"format": "pt"}}   )",
      8);
  TensorStore store;
  read_safetensors(bytes_of(file), "model.safetensors", store);
  EXPECT_EQ(store.tensors().size(), 3u);
  const tensor::TensorView* view = store.find("b");
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->shape, (tensor::Shape{2, 1}));
  EXPECT_EQ(view->data.data(), bytes_of(file).data() + file.size() - 4);
  EXPECT_EQ(store.find("a")->shape, tensor::Shape{});
  EXPECT_EQ(store.find("c"), nullptr);
}

TEST(Safetensors, DamagedFilesGiveOneLineThatNamesFileAndFault) {
  const auto one = [](const std::string& dtype, const std::string& shape,
                      const std::string& offsets) {
    return file_of("{" + entry("t", dtype, shape, offsets) + "}", 8);
  };
  const std::pair<std::string, const char*> cases[] = {
      {"", "is empty"},
      {"short", "only 5 bytes"},
      {with_length(1000, "{}"), "header is 1000 bytes long"},
      {with_length(~std::uint64_t{0}, "{}"), "truncated"},
      {file_of("{", 0), "not valid JSON"},
      {file_of("{}", 8), "cover 0"},
      {one("F32", "[2]", "[0, 16]"), "needs 8 bytes"},
      {one("F32", "[4]", "[0, 16]"), "ends at byte 16 of 8"},
      {one("F32", "[1]", "[0, 4]"), "8 bytes of data follow"},
      {one("F32", "[1]", "[4, 8]"), "gap"},
      {one("F32", "[-2]", "[0, 8]"), "shape"},
      {one("F32", "[2.0]", "[0, 8]"), "shape"},
      {one("F32", "[4611686018427387904, 4]", "[0, 8]"), "impossible shape"},
      {one("F32", "[2]", "[8, 0]"), "data_offsets"},
      {one("F32", "[2]", "[0]"), "not two numbers"},
      {one("F32", "[2]", "[0, 18446744073709551615]"), "data_offsets"},
      {file_of("{" + entry("a", "F32", "[2]", "[0, 8]") + "," + entry("b", "F32", "[1]", "[4, 8]") +
                   "}",
               8),
       "overlap"},
      {file_of("{" + entry("a", "F32", "[1]", "[0, 4]") + "," + entry("a", "F32", "[1]", "[4, 8]") +
                   "}",
               8),
       "appears twice"},
      {file_of("{" + entry("a\\nb", "F32", "[2]", "[0, 8]") + "}", 8), "a\\x0ab"},
      {file_of(R"({"t": {"shape": [2], "data_offsets": [0, 8]}})", 8), "no 'dtype'"},
      {file_of(R"({"t": 5})", 8), "described by 5"},
  };
  for (const auto& [file, message] : cases) {
    const Error error = error_of(file);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr("dir/model.safetensors"), HasSubstr(message)));
  }
}

TEST(Safetensors, ADtypeThatIsNotSupportedIsNamedWithItsTensor) {
  const Error error = error_of(file_of("{" + entry("t", "F8_E4M3", "[8]", "[0, 8]") + "}", 8));
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("tensor 't'"), HasSubstr("F8_E4M3")));
}

}  // namespace
}  // namespace sampan::checkpoint
