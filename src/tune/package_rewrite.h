#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string_view>

#include "package/manifest.h"
#include "package/package_writer.h"
#include "quantize/scheme.h"
#include "sampan/quantizer.h"

namespace sampan::tune {

/// An fp32 package of sampan's own, opened and checked.
struct SourcePackage {
  std::filesystem::path folder;  ///< absolute
  package::Manifest manifest;
};

/// Throws `Error`: as `package::open_package` and `package::verify_files`; kUnsupported for a
/// package without a manifest, and for one that is quantised already.
SourcePackage open_source(const std::filesystem::path& folder);

/// Throws `Error` kIncompatible where this runtime cannot run what a scheme writes.
void check_runtime(const quantize::SchemeRecord& record);

/// Where long work tells what it does, and learns that it shall stop.
struct Progress {
  std::function<void(std::string_view)> report;  ///< may be empty
  std::stop_token stop;

  void say(std::string_view line) const;
  /// Throws `Error` kCancelled after a stop.
  void check_stop() const;
};

/// Writes a package into `writer` whose graphs are those of `source`, rewritten by `scheme`, with
/// the same layout and files, and seals it. Not published yet. Throws `Error`: kInvalidData,
/// kUnsupported (nothing in it can be quantised), kCancelled, and what the writer throws.
QuantizeSummary rewrite_package(const SourcePackage& source, quantize::Scheme& scheme,
                                package::PackageWriter& writer, const Progress& progress);

}  // namespace sampan::tune
