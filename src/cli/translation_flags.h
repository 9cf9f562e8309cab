#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/resume_journal.h"
#include "sampan/translator.h"

namespace CLI {
class App;
}

namespace sampan::cli {

/// What a user said on the command line about loading a package and translating with it. The flags
/// are declared from the same descriptions that read generation_config.json.
class TranslationFlags {
 public:
  /// Declares the flags of the search; a value that cannot be read throws `Error` while parsing.
  void add_search_flags(CLI::App& app);
  /// Declares the target language.
  void add_language_flag(CLI::App& app);
  /// Declares how a line's translation is put together: prefix, splitting, length guard.
  void add_text_flags(CLI::App& app);
  /// Declares the size of batches.
  void add_batch_flags(CLI::App& app);
  /// Declares threads and the runtime's options.
  void add_load_flags(CLI::App& app);

  /// The package's defaults, changed as the user said. Throws `Error` kInvalidArgument with all
  /// problems.
  TranslateOptions options(const Translator& translator) const;
  /// `workers` translations will run side by side.
  LoadOptions load_options(std::size_t workers) const;

 private:
  std::map<std::string, std::string, std::less<>> generation_;  // field name to JSON value
  bool greedy_ = false;
  std::string target_language_;
  std::string target_prefix_;
  bool no_split_ = false;
  bool no_length_guard_ = false;
  std::optional<std::size_t> batch_size_;
  std::optional<std::size_t> batch_tokens_;
  LoadOptions load_;
};

/// What decides the tokens of a run: for `RunSettings`.
RunSettings run_settings(const TranslateOptions& options);

/// A digest of a package: of its manifest where it has one, else of its small files and the sizes
/// of the others.
std::string package_digest(const std::filesystem::path& package);

}  // namespace sampan::cli
