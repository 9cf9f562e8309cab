#include "evaluate/machine.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "evaluate/package_size.h"
#include "sampan/error.h"
#include "support/caught_error.h"
#include "support/temporary_folder.h"

namespace sampan::evaluate {
namespace {

TEST(ProcessMemory, GrowsWithWhatIsTouchedAndKeepsItsPeak) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const ProcessMemory before = process_memory();
  ASSERT_GT(before.resident_bytes, 0u);
  ASSERT_GE(before.peak_bytes, before.resident_bytes / 2);
  { const std::vector<char> touched(kBytes, 'x'); }
  EXPECT_GE(process_memory().peak_bytes, before.resident_bytes + kBytes / 2);
}

TEST(PackageSize, CountsGraphsAndTheirDataApartFromTheRest) {
  const test::TemporaryFolder folder;
  folder.write("encoder_model.onnx", "12345");
  folder.write("model.onnx_data", "1234567");
  folder.write("onnx/decoder_model.onnx", "123");
  folder.write("vocab.json", "{}");
  const PackageSize size = package_size(folder.path());
  EXPECT_EQ(size.model_bytes, 15u);
  EXPECT_EQ(size.folder_bytes, 17u);
}

TEST(PackageSize, NamesAFolderThatIsNotThere) {
  const Error error = test::caught_error([] { package_size("/no/such/folder"); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_NE(std::string(error.what()).find("/no/such/folder"), std::string::npos);
}

}  // namespace
}  // namespace sampan::evaluate
