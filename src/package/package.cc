#include "package/package.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/contained_path.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/system_error.h"
#include "package/fused_layout.h"
#include "package/graph_files.h"

namespace sampan::package {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kMostManifestBytes = std::size_t{1} << 20;
constexpr std::size_t kMostConfigBytes = std::size_t{1} << 24;  // bad_words_ids may be long

void check_folder(const fs::path& folder) {
  const fs::file_status status = base::status_of(folder);
  if (fs::is_directory(status)) return;
  if (fs::exists(status))
    base::fail(ErrorCode::kInvalidArgument,
               "{}: is not a folder; give the path of a package folder", folder.string());
  base::fail(ErrorCode::kNotFound,
             "{}: no such package; check the path, or make one with 'sampan "
             "export'",
             folder.string());
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

std::string read_text(const fs::path& folder, std::string_view name, std::size_t most_bytes) {
  return base::read_file(base::contained_path(folder, name, folder), most_bytes);
}

// "1.30.0-dev" is {1, 30, 0}; what cannot be read counts as 0.
std::array<int, 3> version_numbers(std::string_view text) {
  std::array<int, 3> numbers = {};
  for (int& number : numbers) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  return numbers;
}

void check_runtime(const Manifest& manifest, const fs::path& folder,
                   const std::string& runtime_version) {
  if (runtime_suffices(runtime_version, manifest.least_runtime_version)) return;
  base::fail(ErrorCode::kIncompatible,
             "{}: needs ONNX Runtime {} or later, and this one is {}; "
             "install a newer runtime, or make the package again for an older one",
             folder.string(), manifest.least_runtime_version, runtime_version);
}

void check_size(const fs::path& path, const FileEntry& expected) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error)
    base::fail(ErrorCode::kInvalidData,
               "{}: {}, though the package's manifest lists it; export or "
               "download the package again",
               path.string(), error.message());
  if (size != expected.size)
    base::fail(ErrorCode::kInvalidData,
               "{}: {} bytes, and the package's manifest says {}; export or "
               "download the package again",
               path.string(), size, expected.size);
}

fs::path path_of(const fs::path& folder, const std::string& file) {
  return base::contained_path(folder, file, folder / kManifestName);
}

void check_sizes(const Manifest& manifest, const fs::path& folder) {
  for (const FileEntry& file : manifest.files) check_size(path_of(folder, file.path), file);
}

std::map<GraphRole, fs::path> listed_graphs(const Manifest& manifest, const fs::path& folder) {
  std::map<GraphRole, fs::path> graphs;
  for (const auto& [role, file] : manifest.graphs) graphs[role] = path_of(folder, file);
  return graphs;
}

void check_graphs(const Package& package) {
  const auto& graphs = package.graphs;
  const bool decodes =
      (package.layout == kFusedLayout && graphs.contains(GraphRole::kDecoder)) ||
      graphs.contains(GraphRole::kDecoderMerged) ||
      (graphs.contains(GraphRole::kDecoder) && graphs.contains(GraphRole::kDecoderWithPast));
  if (graphs.contains(GraphRole::kEncoder) && decodes) return;
  base::fail(ErrorCode::kNotFound,
             "{}: has no encoder_model.onnx with a decoder_model_merged.onnx, "
             "or with a decoder_model.onnx and a decoder_with_past_model.onnx, here or in onnx/; "
             "give the path of a package, or make one with 'sampan export'",
             package.folder.string());
}

// The three fields of config.json that the package room answers for.
class Config {
 public:
  Config(const std::string& text, fs::path file)
      : json_(Json::parse(text, nullptr, /*allow_exceptions=*/false)), file_(std::move(file)) {
    if (!json_.is_object())
      base::fail(ErrorCode::kInvalidData,
                 "{}: is not a JSON object; export or download the package "
                 "again",
                 file_.string());
  }

  std::string model_type() const {
    const auto value = json_.find("model_type");
    if (value == json_.end() || !value->is_string()) damaged("model_type", "a string");
    return value->get<std::string>();
  }

  std::optional<std::int64_t> count(const char* name) const {
    const auto value = json_.find(name);
    if (value == json_.end() || value->is_null()) return std::nullopt;
    if (!value->is_number_integer() || *value < 0 || *value > INT32_MAX)
      damaged(name, "a whole number from 0 to 2147483647");
    return value->get<std::int64_t>();
  }

 private:
  [[noreturn]] void damaged(std::string_view name, std::string_view expected) const {
    base::fail(ErrorCode::kInvalidData,
               "{}: field '{}' is not {}; export or download the package "
               "again",
               file_.string(), name, expected);
  }

  Json json_;
  fs::path file_;
};

}  // namespace

std::optional<Manifest> read_manifest(const fs::path& folder) {
  if (!is_there(folder / kManifestName)) return std::nullopt;
  return parse_manifest(read_text(folder, kManifestName, kMostManifestBytes),
                        folder / kManifestName);
}

bool runtime_suffices(std::string_view runtime_version, std::string_view least_version) {
  return version_numbers(least_version) <= version_numbers(runtime_version);
}

Package open_package(const fs::path& given, const std::string& runtime_version) {
  Package package;
  package.folder = base::absolute_path(given);
  check_folder(given);
  const fs::path& folder = package.folder;
  if (const auto manifest = read_manifest(folder)) {
    check_runtime(*manifest, folder, runtime_version);
    check_sizes(*manifest, folder);
    package.graphs = listed_graphs(*manifest, folder);
    package.layout = manifest->layout;
    package.has_manifest = true;
  } else {
    package.graphs = find_graphs(folder);
  }
  check_graphs(package);

  package.config_json = read_text(folder, "config.json", kMostConfigBytes);
  package.generation_config_json =
      is_there(folder / "generation_config.json")
          ? read_text(folder, "generation_config.json", kMostConfigBytes)
          : "{}";
  const Config config(package.config_json, folder / "config.json");
  const Config generation(package.generation_config_json, folder / "generation_config.json");
  package.model_type = config.model_type();
  package.max_positions = config.count("max_position_embeddings").value_or(0);
  auto pad = config.count("pad_token_id");
  if (!pad) pad = generation.count("pad_token_id");
  package.pad_token_id = pad.value_or(0);
  return package;
}

void verify_files(const fs::path& folder) {
  check_folder(folder);
  const auto manifest = read_manifest(folder);
  if (!manifest)
    base::fail(ErrorCode::kNotFound,
               "{}: has no {} to compare the files with; export the package "
               "again",
               folder.string(), kManifestName);
  check_sizes(*manifest, folder);
  for (const FileEntry& file : manifest->files)
    if (describe_file(folder, file.path).sha256 != file.sha256)
      base::fail(ErrorCode::kInvalidData,
                 "{}: the content differs from what the manifest says; export "
                 "or download the package again",
                 (folder / file.path).string());
}

}  // namespace sampan::package
