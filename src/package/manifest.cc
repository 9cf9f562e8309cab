#include "package/manifest.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/fail.h"
#include "base/utf8.h"

namespace sampan::package {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // slow to read: every new key is compared with all

constexpr std::string_view kFormatName = "sampan-package";
constexpr std::size_t kDigestDigits = 64;

constexpr std::array<std::pair<GraphRole, std::string_view>, 4> kRoleNames = {{
    {GraphRole::kEncoder, "encoder"},
    {GraphRole::kDecoder, "decoder"},
    {GraphRole::kDecoderWithPast, "decoder_with_past"},
    {GraphRole::kDecoderMerged, "decoder_merged"},
}};

std::string valid_utf8(std::string text) {
  base::replace_invalid_utf8(text);
  return text;
}

OrderedJson json_of(const std::vector<FileEntry>& files) {
  OrderedJson list = OrderedJson::array();
  for (const FileEntry& file : files)
    list.push_back({{"path", file.path}, {"size", file.size}, {"sha256", file.sha256}});
  return list;
}

OrderedJson json_of(const SpecialTokens& tokens) {
  OrderedJson json = {{"pad", tokens.pad}, {"eos", tokens.eos}};
  if (tokens.bos) json["bos"] = *tokens.bos;
  json["decoder_start"] = tokens.decoder_start;
  return json;
}

// One object of a manifest; every look-up says what is wrong, and where.
class Fields {
 public:
  Fields(const Json& json, const std::filesystem::path& file, std::string place)
      : json_(json), file_(file), place_(std::move(place)) {
    if (!json.is_object()) damaged("is not an object");
  }

  std::string string(const char* name) const {
    const Json& value = get(name);
    if (!value.is_string()) damaged(name, "is not a string");
    return value.get<std::string>();
  }

  std::int64_t integer(const char* name) const { return integer(get(name), name); }

  std::optional<std::int64_t> optional_integer(const char* name) const {
    if (!json_.contains(name)) return std::nullopt;
    return integer(name);
  }

  std::vector<std::int64_t> integers(const char* name) const {
    std::vector<std::int64_t> values;
    for (const Json& value : array(name)) values.push_back(integer(value, name));
    return values;
  }

  const Json& array(const char* name) const {
    const Json& value = get(name);
    if (!value.is_array()) damaged(name, "is not a list");
    return value;
  }

  Fields object(const char* name) const { return {get(name), file_, name_of(name)}; }

  template <typename Visit>  // visit(Fields) for each object of a list
  void each(const char* name, Visit visit) const {
    std::size_t index = 0;
    for (const Json& value : array(name))
      visit(Fields(value, file_, fmt::format("{}[{}]", name_of(name), index++)));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& item : json_.items()) names.push_back(item.key());
    return names;
  }

  [[noreturn]] void damaged(std::string_view name, std::string_view what) const {
    base::fail(ErrorCode::kInvalidData, "{}: field '{}' {}; export or download the package again",
               file_.string(), name_of(name), what);
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const {
    base::fail(ErrorCode::kInvalidData, "{}: {} {}; export or download the package again",
               file_.string(), place_.empty() ? "the content" : fmt::format("field '{}'", place_),
               what);
  }

  const Json& get(const char* name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) damaged(name, "is missing");
    return *found;
  }

  // Integers beyond int64 parse as unsigned or as floating point numbers.
  std::int64_t integer(const Json& value, const char* name) const {
    constexpr auto kMost = static_cast<std::uint64_t>(INT64_MAX);
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost))
      damaged(name, "is not a whole number in range");
    return value.get<std::int64_t>();
  }

  std::string name_of(std::string_view name) const {
    return place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name);
  }

  const Json& json_;
  const std::filesystem::path& file_;
  std::string place_;
};

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

FileEntry read_file_entry(const Fields& fields) {
  FileEntry file;
  file.path = fields.string("path");
  const std::int64_t size = fields.integer("size");
  if (size < 0) fields.damaged("size", "is negative");
  file.size = static_cast<std::uint64_t>(size);
  file.sha256 = fields.string("sha256");
  if (!is_digest(file.sha256)) fields.damaged("sha256", "is not 64 lower-case hexadecimal digits");
  return file;
}

std::vector<FileEntry> read_files(const Fields& parent) {
  std::vector<FileEntry> files;
  std::set<std::string> paths;
  parent.each("files", [&](const Fields& fields) {
    files.push_back(read_file_entry(fields));
    if (!paths.insert(files.back().path).second) fields.damaged("path", "appears twice");
  });
  return files;
}

GraphRole role_of(const Fields& graphs, const std::string& name) {
  for (const auto& [role, role_name] : kRoleNames)
    if (name == role_name) return role;
  graphs.damaged(name, "is not a graph that this version knows");
}

std::map<GraphRole, std::string> read_graphs(const Fields& fields,
                                             const std::vector<FileEntry>& files) {
  std::map<GraphRole, std::string> graphs;
  for (const std::string& name : fields.names()) {
    std::string path = fields.string(name.c_str());
    if (std::ranges::none_of(files, [&](const FileEntry& file) { return file.path == path; }))
      fields.damaged(name, "is not one of the files");
    graphs[role_of(fields, name)] = std::move(path);
  }
  return graphs;
}

SpecialTokens read_special_tokens(const Fields& fields) {
  return {.pad = fields.integer("pad"),
          .eos = fields.integers("eos"),
          .bos = fields.optional_integer("bos"),
          .decoder_start = fields.integer("decoder_start")};
}

Json parse_json(std::string_view text, const std::filesystem::path& file) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    base::fail(ErrorCode::kInvalidData,
               "{}: is not valid JSON; export or download the package again", file.string());
  return json;
}

void check_format(const Fields& fields, const std::filesystem::path& file) {
  if (fields.string("format") != kFormatName)
    fields.damaged("format", fmt::format("is not '{}'", kFormatName));
  const std::int64_t version = fields.integer("format_version");
  if (version < 1) fields.damaged("format_version", "is below 1");
  if (version > kFormatVersion)
    base::fail(ErrorCode::kIncompatible,
               "{}: the package has format {}, and this program reads up to "
               "{}; update sampan, or export the package again with this version",
               file.string(), version, kFormatVersion);
}

}  // namespace

std::string format_manifest(const Manifest& manifest) {
  OrderedJson graphs = OrderedJson::object();
  for (const auto& [role, name] : kRoleNames)
    if (const auto graph = manifest.graphs.find(role); graph != manifest.graphs.end())
      graphs[std::string(name)] = graph->second;
  OrderedJson json = {
      {"format", kFormatName},
      {"format_version", kFormatVersion},
      {"producer",
       {{"name", manifest.producer.name},
        {"version", manifest.producer.version},
        {"commit", manifest.producer.commit}}},
      {"source",
       {{"name", valid_utf8(manifest.source.name)},
        {"revision", valid_utf8(manifest.source.revision)},
        {"files", json_of(manifest.source.files)}}},
      {"architecture", manifest.architecture},
      {"precision", manifest.precision},
      {"scheme", manifest.scheme},
      {"layout", manifest.layout},
      {"opset", manifest.opset},
      {"least_runtime_version", manifest.least_runtime_version},
      {"special_tokens", json_of(manifest.special_tokens)},
      {"graphs", std::move(graphs)},
      {"files", json_of(manifest.files)},
  };
  if (!manifest.scheme_note.empty()) json["scheme_note"] = valid_utf8(manifest.scheme_note);
  return json.dump(2) + "\n";
}

Manifest parse_manifest(std::string_view text, const std::filesystem::path& file) {
  const Json json = parse_json(text, file);
  const Fields fields(json, file, "");
  check_format(fields, file);

  Manifest manifest;
  const Fields producer = fields.object("producer");
  manifest.producer = {producer.string("name"), producer.string("version"),
                       producer.string("commit")};
  const Fields source = fields.object("source");
  manifest.source = {source.string("name"), source.string("revision"), read_files(source)};
  manifest.architecture = fields.string("architecture");
  manifest.precision = fields.string("precision");
  manifest.scheme = fields.string("scheme");
  if (json.contains("scheme_note")) manifest.scheme_note = fields.string("scheme_note");
  manifest.layout = fields.string("layout");
  manifest.opset = fields.integer("opset");
  manifest.least_runtime_version = fields.string("least_runtime_version");
  manifest.special_tokens = read_special_tokens(fields.object("special_tokens"));
  manifest.files = read_files(fields);
  manifest.graphs = read_graphs(fields.object("graphs"), manifest.files);
  return manifest;
}

}  // namespace sampan::package
