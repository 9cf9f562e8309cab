#include "package/graph_files.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/contained_path.h"
#include "base/fail.h"

namespace sampan::package {
namespace {

namespace fs = std::filesystem;

constexpr std::array kRoles = {GraphRole::kEncoder, GraphRole::kDecoder,
                               GraphRole::kDecoderWithPast, GraphRole::kDecoderMerged};

// Names of the .onnx files of the folder and of onnx/, sorted, relative to the folder.
std::vector<fs::path> onnx_files(const fs::path& folder) {
  std::vector<fs::path> names;
  for (const fs::path& below : {fs::path(), fs::path("onnx")}) {
    std::error_code error;
    for (fs::directory_iterator entry(folder / below, error);
         !error && entry != fs::directory_iterator(); entry.increment(error))
      if (entry->path().extension() == ".onnx") names.push_back(below / entry->path().filename());
  }
  std::ranges::sort(names);
  return names;
}

bool name_fits(GraphRole role, const std::string& name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  switch (role) {
    case GraphRole::kEncoder:
      return has("encoder") && !has("decoder");
    case GraphRole::kDecoder:
      return has("decoder") && !has("with_past") && !has("merged");
    case GraphRole::kDecoderWithPast:
      return has("decoder") && has("with_past");
    case GraphRole::kDecoderMerged:
      return has("decoder") && has("merged");
  }
  return false;
}

std::optional<fs::path> find_graph(GraphRole role, const std::vector<fs::path>& files,
                                   const fs::path& folder) {
  for (const fs::path& below : {fs::path(), fs::path("onnx")})
    if (const fs::path name = below / graph_file_name(role); std::ranges::count(files, name) > 0)
      return name;
  std::vector<fs::path> fitting;
  std::ranges::copy_if(files, std::back_inserter(fitting), [&](const fs::path& file) {
    return name_fits(role, file.filename().string());
  });
  if (fitting.empty()) return std::nullopt;
  if (fitting.size() > 1)
    base::fail(ErrorCode::kInvalidData, "{}: both {} and {} could be {}; keep one of them",
               folder.string(), fitting[0].string(), fitting[1].string(), graph_file_name(role));
  return fitting.front();
}

}  // namespace

std::string_view graph_file_name(GraphRole role) noexcept {
  switch (role) {
    case GraphRole::kEncoder:
      return "encoder_model.onnx";
    case GraphRole::kDecoder:
      return "decoder_model.onnx";
    case GraphRole::kDecoderWithPast:
      return "decoder_with_past_model.onnx";
    case GraphRole::kDecoderMerged:
      return "decoder_model_merged.onnx";
  }
  return {};
}

std::map<GraphRole, fs::path> find_graphs(const fs::path& folder) {
  const std::vector<fs::path> files = onnx_files(folder);
  std::map<GraphRole, fs::path> graphs;
  for (const GraphRole role : kRoles)
    if (const auto file = find_graph(role, files, folder))
      graphs[role] = base::contained_path(folder, *file, folder);
  return graphs;
}

}  // namespace sampan::package
