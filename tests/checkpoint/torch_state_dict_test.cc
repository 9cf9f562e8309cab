#include "checkpoint/torch_state_dict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/torch_file.h"
#include "support/caught_error.h"

namespace sampan::checkpoint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

std::string text(std::string_view characters) {
  std::string pickled = "X";
  for (int shift = 0; shift < 32; shift += 8)
    pickled += static_cast<char>(characters.size() >> shift & 0xff);
  return pickled + std::string(characters);
}

std::string number(std::int64_t value) { return "L" + std::to_string(value) + "L\n"; }

std::string tuple(const std::vector<std::int64_t>& values) {
  std::string pickled = "(";
  for (const std::int64_t value : values) pickled += number(value);
  return pickled + "t";
}

struct Tensor {
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::string key = "0";
  std::int64_t elements = 6;
  std::string type = "FloatStorage";
  std::string view = "N";  // the sixth value of a storage's description
  std::string tail =
      "\x89"
      "ccollections\nOrderedDict\n)R";  // requires_grad, hooks[, metadata]
};

std::string pickled(const Tensor& tensor) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + tensor.type +
         "\n" + text(tensor.key) + text("cpu") + number(tensor.elements) + tensor.view + "tQ" +
         number(tensor.offset) + tuple(tensor.shape) + tuple(tensor.strides) + tensor.tail + "tR";
}

std::string dict_of(const std::string& items) { return "}(" + items + "u."; }

// The older container around a state dictionary; storage "0" holds the floats 0 to 5.
struct Stream {
  std::string state;
  std::string magic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  std::string version = "M\xe9\x03.";
  std::string system = "}" + text("little_endian") + "\x88s.";
  std::string keys = "]" + text("0") + "a.";
  std::uint64_t count = 6;

  std::string bytes() const {
    std::string file = "\x80\x02" + magic + "\x80\x02" + version + "\x80\x02" + system +
                       "\x80\x02" + state + "\x80\x02" + keys;
    for (int shift = 0; shift < 64; shift += 8) file += static_cast<char>(count >> shift & 0xff);
    for (int i = 0; i < 6; ++i) {
      const float value = static_cast<float>(i);
      char raw[sizeof value];
      std::memcpy(raw, &value, sizeof value);
      file.append(raw, sizeof value);
    }
    return file;
  }
};

Stream stream_of(const std::string& items) {
  Stream stream;
  stream.state = dict_of(items);
  return stream;
}

std::string entry(std::string_view name, const Tensor& tensor) {
  return text(name) + pickled(tensor);
}

void read(const std::string& bytes, TensorStore& store) {
  read_torch_file(std::as_bytes(std::span(bytes)), "dir/pytorch_model.bin", store);
}

Error error_of(const Stream& stream) {
  return test::caught_error([&] {
    TensorStore store;
    read(stream.bytes(), store);
  });
}

std::vector<float> floats_of(const TensorStore& store, std::string_view name) {
  const tensor::TensorView* view = store.find(name);
  if (view == nullptr) return {};
  std::vector<float> values(static_cast<std::size_t>(*tensor::element_count(view->shape)));
  tensor::to_floats(*view, values);
  return values;
}

TEST(TorchStateDict, ViewsAreSharedAndStridedTensorsAreCopiedOnce) {
  const std::string bytes =
      stream_of(entry("whole", {0, {2, 3}, {3, 1}}) + entry("row", {3, {3}, {1}}) +
                entry("transposed", {0, {3, 2}, {1, 3}}) + entry("again", {0, {3, 2}, {1, 3}}) +
                entry("column", {1, {2, 1}, {3, 77}}) + entry("repeated", {5, {2, 2}, {0, 0}}) +
                entry("scalar", {4, {}, {}}) + entry("nothing", {6, {0, 9}, {9, 1}}))
          .bytes();
  TensorStore store;
  read(bytes, store);
  EXPECT_EQ(store.find("row")->data.data(), store.find("whole")->data.data() + 12);
  EXPECT_EQ(store.find("transposed")->data.data(), store.find("again")->data.data());
  EXPECT_THAT(floats_of(store, "transposed"), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(floats_of(store, "column"), ElementsAre(1, 4));
  EXPECT_THAT(floats_of(store, "repeated"), ElementsAre(5, 5, 5, 5));
  EXPECT_THAT(floats_of(store, "scalar"), ElementsAre(4));
  EXPECT_THAT(floats_of(store, "nothing"), ElementsAre());
}

TEST(TorchStateDict, StoragesThatAreViewsOfOthersAreRead) {
  Tensor tensor{1, {2}, {1}};
  tensor.view = "(" + text("view") + number(3) + number(3) + "t";
  const std::string bytes = stream_of(entry("part", tensor)).bytes();
  TensorStore store;
  read(bytes, store);
  EXPECT_THAT(floats_of(store, "part"), ElementsAre(4, 5));

  tensor.offset = 2;
  EXPECT_THAT(error_of(stream_of(entry("part", tensor))).what(), HasSubstr("leaves its storage"));
  tensor.view = "(" + text("view") + number(4) + number(3) + "t";
  EXPECT_THAT(error_of(stream_of(entry("part", tensor))).what(), HasSubstr("view leaves"));
}

TEST(TorchStateDict, ParametersAndOrderedDictionariesAreUnderstood) {
  Stream stream;
  const std::string parameter =
      "ctorch._utils\n_rebuild_parameter\n(" + pickled({0, {6}, {1}}) + "\x88N" + "tR";
  stream.state = "ccollections\nOrderedDict\n)R(" + text("p") + parameter + "u}" +
                 text("_metadata") + "ccollections\nOrderedDict\n)Rsb.";
  const std::string bytes = stream.bytes();
  TensorStore store;
  read(bytes, store);
  EXPECT_THAT(floats_of(store, "p"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(TorchStateDict, TensorsThatLeaveTheirStorageAreRefused) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const Tensor cases[] = {
      {0, {7}, {1}},
      {1, {2, 3}, {3, 1}},
      {7, {0}, {1}},
      {0, {2, 2}, {kHuge, 4}},
      {0, {3, 3}, {kHuge, kHuge}},
      {kHuge, {1}, {1}},
      {0, {kHuge, 4}, {0, 0}},
      {0, {2}, {-1}},
      {-1, {2}, {1}},
      {0, {2, 3}, {1}},
  };
  for (const Tensor& tensor : cases)
    EXPECT_EQ(error_of(stream_of(entry("t", tensor))).code(), ErrorCode::kInvalidData)
        << tensor::to_string(tensor.shape) << tensor::to_string(tensor.strides);
}

TEST(TorchStateDict, ASmallStorageCannotFillTheMemory) {
  const Error error = error_of(stream_of(entry("bomb", {0, {1 << 20, 1 << 10}, {0, 0}})));
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("'bomb'"), HasSubstr("[1048576, 1024]")));
}

TEST(TorchStateDict, WhatIsNoPlainTensorIsRefusedByName) {
  Tensor negated{0, {6}, {1}};
  negated.tail += "}" + text("neg") + "\x88s";
  Tensor complex{0, {6}, {1}};
  complex.type = "ComplexFloatStorage";
  const std::pair<std::string, const char*> cases[] = {
      {entry("t", negated), "conjugated or negated"},
      {entry("t", complex), "torch.ComplexFloatStorage"},
      {entry("t", {0, {6}, {1}}) + text("epoch") + "K\x05", "'epoch' is no tensor"},
      {entry("t", {0, {6}, {1}}) + text("model") + "}", "'model' is no tensor"},
      {text("t") + "ctorch._utils\n_rebuild_qtensor\n)R", "torch._utils._rebuild_qtensor"},
      {entry("", {0, {6}, {1}}), "no name of a tensor"},
      {entry("a\nb", {0, {6}, {1}}), "a\\x0ab"},
      {entry("t", {0, {6}, {1}}) + entry("t", {0, {6}, {1}}), "appears twice"},
      {"K\x01" + pickled({0, {6}, {1}}), "is no text"},
  };
  for (const auto& [items, message] : cases)
    EXPECT_THAT(error_of(stream_of(items)).what(), HasSubstr(message));
  Stream list;
  list.state = "].";
  list.keys = "].";
  EXPECT_THAT(error_of(list).what(), HasSubstr("no state dictionary"));
}

TEST(TorchStateDict, OneStorageHasOneTypeAndOneSize) {
  Tensor other{0, {6}, {1}};
  other.type = "HalfStorage";
  EXPECT_THAT(error_of(stream_of(entry("a", {0, {6}, {1}}) + entry("b", other))).what(),
              HasSubstr("described in two ways"));
  other.type = "FloatStorage";
  other.elements = 7;
  EXPECT_THAT(error_of(stream_of(entry("a", {0, {6}, {1}}) + entry("b", other))).what(),
              HasSubstr("described in two ways"));
  other.elements = std::int64_t{1} << 62;
  EXPECT_THAT(error_of(stream_of(entry("b", other))).what(), HasSubstr("impossible size"));
}

TEST(TorchStream, EveryPartIsChecked) {
  const Stream good = stream_of(entry("t", {0, {6}, {1}}));
  const auto with = [&](auto change) {
    Stream stream = good;
    change(stream);
    return error_of(stream);
  };
  EXPECT_THAT(with([](Stream& s) { s.magic = "K\x01."; }).what(), HasSubstr("neither a zip"));
  EXPECT_THAT(with([](Stream& s) { s.version = "M\xea\x03."; }).what(),
              HasSubstr("version is 1002, not 1001"));
  const Error big = with([](Stream& s) { s.system = "}" + text("little_endian") + "\x89s."; });
  EXPECT_EQ(big.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(big.what(), HasSubstr("big-endian"));
  EXPECT_THAT(with([](Stream& s) { s.system = "}."; }).what(), HasSubstr("byte order"));
  EXPECT_THAT(with([](Stream& s) { s.keys = "]" + text("9") + "a."; }).what(),
              HasSubstr("no tensor has"));
  EXPECT_THAT(with([](Stream& s) { s.keys = "]."; }).what(), HasSubstr("lists 0 storages"));
  EXPECT_THAT(with([](Stream& s) { s.count = 5; }).what(), HasSubstr("5 elements where 6"));
  EXPECT_THAT(with([](Stream& s) { s.count = ~std::uint64_t{0}; }).what(),
              HasSubstr("where 6 are expected"));
}

}  // namespace
}  // namespace sampan::checkpoint
