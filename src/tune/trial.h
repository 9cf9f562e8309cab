#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "evaluate/timed_translation.h"
#include "package/package_writer.h"
#include "quantize/scheme.h"
#include "sampan/translator.h"
#include "tune/package_rewrite.h"

namespace sampan::tune {

/// A package that translates, and what its translations are worth. One package's text goes through
/// it with the package's own defaults for the search.
class Trial {
 public:
  /// A package as it is.
  explicit Trial(const std::filesystem::path& package);
  /// A package made from it, in the system's folder for temporary files, removed with this object.
  Trial(const SourcePackage& source, quantize::Scheme& scheme, const Progress& progress);

  /// Of a package that was made.
  const std::filesystem::path& folder() const { return writer_->folder(); }
  /// Sizes, of a package that was made.
  const QuantizeSummary& summary() const noexcept { return summary_; }

  std::vector<Translation> translate(std::span<const std::string> sources,
                                     const std::stop_token& stop) const;
  std::vector<std::string> translate_text(std::span<const std::string> sources,
                                          const std::stop_token& stop) const;
  /// All lines in batches of so many, timed.
  evaluate::Pass translate_timed(std::span<const std::string> sources, std::size_t batch_size,
                                 const std::stop_token& stop) const;
  /// Mean of -log p of the tokens of given translations, in nats.
  double nats_per_token(std::span<const std::string> sources, std::span<const std::string> targets,
                        const std::stop_token& stop) const;

 private:
  TranslateOptions options(const std::stop_token& stop) const;

  std::unique_ptr<package::PackageWriter> writer_;  // first: the files outlive the translator
  QuantizeSummary summary_;
  Translator translator_;
};

}  // namespace sampan::tune
