#include "tensor/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"
#include "support/zip_file.h"

namespace sampan::tensor {
namespace {

using test::bytes_of;
using test::little;
using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kData = std::filesystem::path(kSourceFolder) / "tests/data/tensor";

std::vector<float> floats_of(const Array& array) {
  std::vector<float> floats(static_cast<std::size_t>(element_count(array.shape).value()));
  to_floats(array.view(), floats);
  return floats;
}

std::vector<std::int64_t> integers_of(const Array& array) {
  std::vector<std::int64_t> integers(static_cast<std::size_t>(element_count(array.shape).value()));
  to_integers(array.view(), integers);
  return integers;
}

class NumPyFileTest : public ::testing::TestWithParam<const char*> {
 protected:
  const NpzFile file_{kData / GetParam()};
};

INSTANTIATE_TEST_SUITE_P(StoredAndCompressed, NumPyFileTest,
                         ::testing::Values("plain.npz", "packed.npz"));

TEST_P(NumPyFileTest, IntegersAndTruthValuesOfEveryWidthAreRead) {
  const Array ids = file_.read("input_ids");
  EXPECT_EQ(ids.dtype, DType::kI64);
  EXPECT_EQ(ids.shape, (Shape{2, 3}));
  EXPECT_THAT(integers_of(ids), ElementsAre(3, 5, 0, 7, 0, 65000));
  EXPECT_EQ(file_.read("attention_mask").dtype, DType::kBool);
  EXPECT_THAT(integers_of(file_.read("attention_mask")), ElementsAre(1, 1, 1, 1, 1, 0));
  EXPECT_THAT(integers_of(file_.read("bytes")), ElementsAre(-128, 127));
  EXPECT_THAT(integers_of(file_.read("short")), ElementsAre(-32768, 32767));
  EXPECT_THAT(integers_of(file_.read("int")), ElementsAre(-2147483648LL));
  EXPECT_THAT(integers_of(file_.read("unsigned")), ElementsAre(255));
}

TEST_P(NumPyFileTest, FloatsScalarsAndEmptyArraysAreRead) {
  EXPECT_THAT(floats_of(file_.read("half")), ElementsAre(1.0f, -2.0f, 65504.0f));
  const Array scalar = file_.read("double");
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_THAT(floats_of(scalar), ElementsAre(0.1f));
  EXPECT_EQ(file_.read("empty").shape, (Shape{2, 8, 0, 64}));
  EXPECT_TRUE(file_.read("empty").data.empty());
}

TEST_P(NumPyFileTest, AColumnMajorArrayArrivesRowMajor) {
  const Array array = file_.read("columns");
  EXPECT_EQ(array.shape, (Shape{2, 3, 4}));
  const std::vector<float> floats = floats_of(array);
  for (std::size_t i = 0; i < floats.size(); ++i) EXPECT_EQ(floats[i], static_cast<float>(i));
}

TEST_P(NumPyFileTest, ArraysOfOtherTypesAreRefusedOnlyWhenAskedFor) {
  EXPECT_EQ(file_.names().size(), 13u);
  EXPECT_TRUE(file_.contains("text"));
  for (const char* name : {"text", "swapped", "record"}) {
    const Error error = test::caught_error([&] { file_.read(name); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << name;
    EXPECT_THAT(error.what(), HasSubstr(name));
  }
  const Error missing = test::caught_error([&] { file_.read("labels"); });
  EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  EXPECT_THAT(missing.what(), HasSubstr("no array 'labels'; it has: attention_mask, bytes"));
}

TEST(NpzFile, AnArrayWithAWrongChecksumIsDamaged) {
  std::string content = test::content_of(kData / "plain.npz");
  const std::int64_t last_id = 65000;
  const std::size_t place =
      content.find(std::string_view(reinterpret_cast<const char*>(&last_id), sizeof(last_id)));
  ASSERT_NE(place, std::string::npos);
  content[place] ^= 1;
  const test::TemporaryFolder folder;
  const NpzFile file(folder.write("damaged.npz", content));
  const Error error = test::caught_error([&] { file.read("input_ids"); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr("'input_ids' has a wrong checksum"));
}

std::string npy(const std::string& header, const std::string& data, char major = 1) {
  std::string file = std::string("\x93NUMPY") + major + '\0';
  return file + little(header.size(), major == 1 ? 2 : 4) + header + data;
}

Array read(const std::string& file) { return read_npy(bytes_of(file), "x", "some.npz"); }

TEST(Npy, EveryVersionOfTheFormatAndAnyOrderOfKeysIsRead) {
  const std::string header = "{\"shape\":(2,),'fortran_order':False , 'descr': '|u1'}\n";
  for (const char major : {char{1}, char{2}, char{3}})
    EXPECT_THAT(integers_of(read(npy(header, "\x01\x02", major))), ElementsAre(1, 2));
  EXPECT_EQ(test::caught_error([&] { read(npy(header, "ab", 4)); }).code(),
            ErrorCode::kUnsupported);
}

TEST(Npy, HeadersThatNumPyDoesNotWriteAreRefused) {
  const std::string order = "'fortran_order': False, ";
  const std::vector<std::string> headers = {
      "",
      "{}",
      "{" + order + "'shape': (2,)}",                                 // no type
      "{'descr': '|u1', " + order + "'shape': (2,), 'shape': (2,)}",  // twice
      "{'descr': '|u1', " + order + "'shape': (2,), 'more': 1}",
      "{'descr': '|u1', " + order + "'shape': (-2,)}",
      "{'descr': '|u1', " + order + "'shape': (2.0,)}",
      "{'descr': '|u1', " + order + "'shape': (9999999999999999999,)}",
      "{'descr': '|u1', " + order + "'shape': (2",
      "{'descr': '|u1', " + order + "'shape': (2,)} and more",
      "{'descr': [[('a', '|u1')], " + order + "'shape': (2,)}",
      "{'descr': '|u1', 'fortran_order': 0, 'shape': (2,)}",
  };
  for (const std::string& header : headers) {
    const Error error = test::caught_error([&] { read(npy(header, "ab")); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << header;
    EXPECT_THAT(error.what(), HasSubstr("array 'x' has a header that NumPy does not write"));
  }
}

TEST(Npy, SizesThatTheFileDoesNotHaveAreRefusedBeforeMemoryIsTaken) {
  const auto header = [](const std::string& shape) {
    return "{'descr': '<f4', 'fortran_order': True, 'shape': " + shape + "}";
  };
  for (const char* shape :
       {"(2,)", "(1, 1000000000000)", "(4000000000, 4000000000, 4000000000)", "(0,)"})
    EXPECT_THAT(test::caught_error([&] { read(npy(header(shape), "abcd")); }).what(),
                HasSubstr("which are not the elements of its shape"))
        << shape;
  EXPECT_THAT(test::caught_error([&] { read(npy(header("(1,)"), "abcde")); }).what(),
              HasSubstr("5 bytes of data"));
  EXPECT_THAT(test::caught_error([&] { read("\x93NUMPY\x02" + std::string(5, '\xff')); }).what(),
              HasSubstr("claims a header of"));
  EXPECT_THAT(test::caught_error([&] { read("\x93NUM"); }).what(), HasSubstr("truncated"));
  EXPECT_THAT(test::caught_error([&] { read("<!doctype html>"); }).what(),
              HasSubstr("does not begin as NumPy's files do"));
}

}  // namespace
}  // namespace sampan::tensor
