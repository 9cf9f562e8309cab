#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "package/file_entry.h"

namespace sampan::package {

/// Name of the manifest in a package folder; docs/package-format.md tells its content in full.
inline constexpr std::string_view kManifestName = "sampan.json";
/// The newest format that this build reads, and the one it writes.
inline constexpr std::int64_t kFormatVersion = 1;

/// The graphs of a package, by their part in decoding.
enum class GraphRole { kEncoder, kDecoder, kDecoderWithPast, kDecoderMerged };

/// The checkpoint that a package was made from.
struct Source {
  std::string name;      ///< "Helsinki-NLP/opus-mt-en-zh", or the name of the checkpoint's folder
  std::string revision;  ///< commit of the repository; empty where unknown
  std::vector<FileEntry> files;
};

/// Who wrote a package.
struct Producer {
  std::string name;
  std::string version;
  std::string commit;  ///< empty where unknown
};

struct SpecialTokens {
  std::int64_t pad = 0;
  std::vector<std::int64_t> eos;
  std::optional<std::int64_t> bos;
  std::int64_t decoder_start = 0;
};

/// What a package says about itself.
struct Manifest {
  Producer producer;
  Source source;
  std::string architecture;           ///< config.json's model_type
  std::string precision;              ///< "fp32"
  std::string scheme;                 ///< how the weights are quantised; "none"
  std::string scheme_note;            ///< what was measured when it was chosen; mostly empty
  std::string layout;                 ///< "shared" or "separate"
  std::int64_t opset = 0;             ///< version of ai.onnx
  std::string least_runtime_version;  ///< of ONNX Runtime, "1.12.0"
  SpecialTokens special_tokens;
  std::map<GraphRole, std::string> graphs;  ///< each one of `files`
  std::vector<FileEntry> files;             ///< everything but the manifest itself, sorted by path
};

/// The JSON text of a manifest, ending in a line break. The same manifest gives the same bytes.
std::string format_manifest(const Manifest& manifest);

/// Reads a manifest; `file` names it in messages. Fields of later minor additions are ignored.
/// Throws `Error`: kInvalidData for text that is not a whole manifest, contradicts itself, or names
/// paths outside the folder; kIncompatible for a format newer than `kFormatVersion`.
Manifest parse_manifest(std::string_view json, const std::filesystem::path& file);

}  // namespace sampan::package
