#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/measured_package.h"
#include "evaluate/package_size.h"

namespace sampan::cli {

/// The speed of one package.
struct BenchedPackage {
  std::string name;
  std::filesystem::path folder;
  evaluate::PackageSize size;
  LoadFigures load;
  std::vector<PassFigures> rounds;  ///< at least one; the warm-up is not among them
  std::optional<ProfileFigures> profile;
};

struct BenchReport {
  std::string machine;   ///< one line: date, processor, versions
  std::string settings;  ///< one line: what was translated, how, how often
  std::size_t lines = 0;
  std::vector<BenchedPackage> packages;
};

/// A table with a row for each package, and a table of operators for each that was profiled.
std::string plain_report(const BenchReport& report);
std::string markdown_report(const BenchReport& report);
/// One JSON object on one line; docs/evaluate.md lists its fields.
std::string json_report(const BenchReport& report);
/// Bars of tokens a second, as one SVG picture.
std::string svg_report(const BenchReport& report);

}  // namespace sampan::cli
