#include "checkpoint/torch_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "checkpoint/safetensors.h"
#include "sampan/error.h"
#include "support/folders.h"

namespace sampan::checkpoint {
namespace {

const std::filesystem::path kData = std::filesystem::path(kSourceFolder) / "tests/data/checkpoint";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The message of the `Error` that reading gives, or "" when it succeeds.
std::string message_of(std::span<const std::byte> bytes) {
  TensorStore store;
  try {
    read_torch_file(bytes, "some.bin", store);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class TorchContainer : public testing::TestWithParam<std::string> {
 protected:
  TorchContainer() : file_(kData / GetParam()), expected_file_(kData / "expected.safetensors") {
    read_safetensors(expected_file_.bytes(), expected_file_.path(), expected_);
  }

  base::MappedFile file_;
  base::MappedFile expected_file_;
  TensorStore expected_;
};

TEST_P(TorchContainer, EveryTensorHasTheValuesThatTorchSaved) {
  TensorStore store;
  read_torch_file(file_.bytes(), file_.path(), store);
  EXPECT_EQ(store.tensors().size(), expected_.tensors().size());
  for (const auto& [name, expected] : expected_.tensors()) {
    const tensor::TensorView* view = store.find(name);
    ASSERT_NE(view, nullptr) << name;
    EXPECT_EQ(view->dtype, expected.dtype) << name;
    EXPECT_EQ(view->shape, expected.shape) << name;
    EXPECT_TRUE(std::ranges::equal(view->data, expected.data)) << name;
  }
}

TEST_P(TorchContainer, TwoNamesOfOneStorageShareTheirBytes) {
  TensorStore store;
  read_torch_file(file_.bytes(), file_.path(), store);
  EXPECT_EQ(store.find("base")->data.data(), store.find("same_storage")->data.data());
  EXPECT_EQ(store.find("offset")->data.data(), store.find("base")->data.data() + 6 * sizeof(float));
}

TEST_P(TorchContainer, AFileCutShortAnywhereIsRefused) {
  const auto whole = file_.bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_NE(message_of(cut), "") << "cut to " << length << " of " << whole.size();
  }
}

TEST_P(TorchContainer, AByteThatIsChangedNeverReadsOutsideTheFile) {
  std::vector<std::byte> damaged(file_.bytes().begin(), file_.bytes().end());
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    for (const unsigned flip : {0xffu, 0x01u, 0x80u}) {
      const std::byte kept = damaged[i];
      damaged[i] ^= static_cast<std::byte>(flip);
      TensorStore store;
      try {
        read_torch_file(damaged, "some.bin", store);
        for (const auto& [name, view] : store.tensors())
          ASSERT_EQ(view.data.size(), static_cast<std::size_t>(*tensor::element_count(view.shape)) *
                                          tensor::size_of(view.dtype));
      } catch (const Error& error) {
        ASSERT_NE(error.code(), ErrorCode::kInternal) << error.what();
      }
      damaged[i] = kept;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Containers, TorchContainer,
                         testing::Values("zip.bin", "stream.bin", "zip_protocol4.bin",
                                         "stream_protocol4.bin", "deflated.bin"),
                         [](const auto& container) {
                           std::string name = container.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(TorchFile, RefusesAStateDictionaryThatCallsSomethingByName) {
  const base::MappedFile file(kData / "stream.bin");
  std::string content(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const std::string_view harmless = "collections\nOrderedDict\n",
                         hostile = "posix\nsystem_________\n";
  const std::size_t at = content.find(harmless);
  ASSERT_NE(at, std::string::npos);
  content.replace(at, harmless.size(), std::string(hostile) + std::string(1, '.'));
  const std::string message = message_of(bytes_of(content));
  EXPECT_NE(message.find("posix.system"), std::string::npos) << message;
}

TEST(TorchFile, SaysWhatItGotInsteadOfWeights) {
  EXPECT_NE(
      message_of(bytes_of("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"))
          .find("LFS"),
      std::string::npos);
  EXPECT_NE(message_of(bytes_of("<!DOCTYPE html><html><body>404</body></html>")).find("web page"),
            std::string::npos);
  EXPECT_NE(message_of({}), "");
}

}  // namespace
}  // namespace sampan::checkpoint
