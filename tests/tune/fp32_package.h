#pragma once

#include <filesystem>

#include "sampan/exporter.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::test {

/// The bundled checkpoint as an fp32 package, exported once for all tests of a process.
inline const std::filesystem::path& fp32_package() {
  static const TemporaryFolder folder;
  static const std::filesystem::path package = [] {
    export_checkpoint(std::filesystem::path(kSourceFolder) / "models/tatoeba-en-zh",
                      folder / "fp32");
    return folder / "fp32";
  }();
  return package;
}

}  // namespace sampan::test
