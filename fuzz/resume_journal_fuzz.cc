#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/resume_journal.h"
#include "sampan/error.h"

// Any file is a journal or a clear error; what was read can be shortened, added to and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan;
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("sampan-journal-" + std::to_string(::getpid()));
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    cli::ResumeJournal journal = cli::ResumeJournal::open(file);
    journal.keep(journal.checkpoints().size() / 2);
    journal.append({1, UINT64_MAX, "digest"});
    if (cli::ResumeJournal::open(file).checkpoints() != journal.checkpoints()) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
  std::filesystem::remove(file);
  return 0;
}
