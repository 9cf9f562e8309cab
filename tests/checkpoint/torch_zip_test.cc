#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkpoint/torch_file.h"
#include "support/caught_error.h"
#include "support/zip_file.h"

namespace sampan::checkpoint {
namespace {

using test::deflated;
using test::stored;
using testing::HasSubstr;

Error torch_error_of(const std::vector<test::ZipMember>& members) {
  const std::string file = test::zip_of(members);
  return test::caught_error([&] {
    TensorStore store;
    read_torch_file(test::bytes_of(file), "pytorch_model.bin", store);
  });
}

TEST(TorchZip, ArchivesThatAreNoCheckpointSaySo) {
  EXPECT_THAT(torch_error_of({stored("readme.txt", "hello")}).what(),
              HasSubstr("without data.pkl"));
  EXPECT_THAT(torch_error_of({stored("a/data.pkl", "}."), stored("b/data.pkl", "}.")}).what(),
              HasSubstr("two folders"));
  const Error script =
      torch_error_of({stored("a/data.pkl", "}."), stored("a/constants.pkl", ").")});
  EXPECT_EQ(script.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(script.what(), HasSubstr("TorchScript"));
  const Error big = torch_error_of({stored("a/data.pkl", "}."), stored("a/byteorder", "big")});
  EXPECT_EQ(big.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(big.what(), HasSubstr("'big'"));
}

TEST(TorchZip, ABombIsNotUnpacked) {
  const std::string zeros(96 << 20, '\0');
  const Error error = torch_error_of({deflated("a/data.pkl", zeros)});
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(error.what(), HasSubstr("would unpack to 100663296 bytes"));
}

}  // namespace
}  // namespace sampan::checkpoint
