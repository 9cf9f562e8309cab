#include "verify/file_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/mapped_file.h"
#include "base/sha256.h"
#include "graph/checker.h"
#include "graph/external_data.h"
#include "graph/onnx_reader.h"
#include "graph/shape_inference.h"
#include "package/manifest.h"
#include "sampan/error.h"

namespace sampan::verify {
namespace {

constexpr std::size_t kLongestManifest = std::size_t{16} << 20;

Check check_package_files(const package::Package& package, std::size_t count) {
  try {
    package::verify_files(package.folder);
    return passed("files", fmt::format("{} files have the manifest's SHA-256", count));
  } catch (const Error& error) {
    return failed("files", error.what());
  }
}

Check check_source_files(const package::Manifest& manifest,
                         const std::filesystem::path& checkpoint) {
  for (const package::FileEntry& file : manifest.source.files) {
    const std::filesystem::path path = checkpoint / file.path;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
      return failed("source",
                    fmt::format("{}: the package was made from such a file; name its checkpoint",
                                path.string()));
    if (base::sha256_of_file(path).sha256 != file.sha256)
      return failed("source", fmt::format("{}: is not the file that the package was made from; "
                                          "export again, or name the other checkpoint",
                                          path.string()));
  }
  return passed("source",
                fmt::format("made from the checkpoint's {} files", manifest.source.files.size()));
}

/// The name of a node that gives another result each time, or an empty one.
std::string random_node(const graph::Graph& graph) {
  constexpr std::array<std::string_view, 7> kRandom = {
      "Dropout",           "RandomNormal", "RandomNormalLike", "RandomUniform",
      "RandomUniformLike", "Bernoulli",    "Multinomial"};
  for (const graph::Node& node : graph.nodes) {
    if (std::ranges::find(kRandom, node.op_type) != kRandom.end() ||
        node.domain.starts_with("ai.onnx.training") ||
        node.domain.starts_with("ai.onnx.preview.training"))
      return fmt::format("{} ({})", node.name, node.op_type);
    for (const auto& [name, value] : node.attributes)
      if (const auto* branch = std::get_if<std::shared_ptr<const graph::Graph>>(&value))
        if (*branch)
          if (std::string found = random_node(**branch); !found.empty()) return found;
  }
  return {};
}

std::string opsets_of(const graph::Model& model) {
  std::string text;
  for (const graph::OpsetImport& import : model.opset_imports)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        import.domain.empty() ? "ai.onnx" : import.domain, import.version);
  return text;
}

/// Of a graph that is well formed.
Check check_shapes(const std::string& name, const graph::Model& model) {
  const graph::InferredShapes shapes = graph::infer_shapes(model);
  if (!shapes.faults.empty())
    return failed(name, fmt::format("{} ({} faults)", shapes.faults.front(), shapes.faults.size()));
  const std::string done = fmt::format("well formed, operator sets {}; shapes of {} of {} nodes",
                                       opsets_of(model), shapes.inferred, shapes.nodes);
  if (shapes.unknown.empty()) return passed(name, done);
  std::string unknown;
  for (const auto& [what, count] : shapes.unknown)
    unknown += fmt::format("{}{} ({})", unknown.empty() ? "" : ", ", what, count);
  return not_checked(name, fmt::format("{}; not known: {}", done, unknown));
}

Check check_graph_file(const std::filesystem::path& file) {
  const std::string name = "graph." + file.stem().string();
  try {
    graph::Model model = graph::read_model_file(file);
    graph::open_external_data(model, file);
    const std::vector<std::string> faults = graph::find_faults(model);
    if (!faults.empty())
      return failed(name, fmt::format("{} ({} faults)", faults.front(), faults.size()));
    if (const std::string node = random_node(model.graph); !node.empty())
      return failed(name, fmt::format("node {} is left from training; export for inference", node));
    return check_shapes(name, model);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUnsupported) return not_checked(name, error.what());
    return failed(name, error.what());
  }
}

}  // namespace

std::vector<Check> check_files(const package::Package& package,
                               const std::filesystem::path& checkpoint) {
  if (!package.has_manifest)
    return {not_checked("files", "the package has no sampan.json with digests to hold it against")};
  const std::filesystem::path file = package.folder / package::kManifestName;
  const package::Manifest manifest =
      package::parse_manifest(base::read_file(file, kLongestManifest), file);
  return {check_package_files(package, manifest.files.size()),
          check_source_files(manifest, checkpoint)};
}

std::vector<Check> check_graph_files(const package::Package& package) {
  std::vector<Check> checks;
  for (const auto& [role, file] : package.graphs) checks.push_back(check_graph_file(file));
  return checks;
}

}  // namespace sampan::verify
