#include "cli/translation_flags.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <string_view>

#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/processor.h"
#include "base/sha256.h"
#include "base/system_error.h"
#include "translator/generation_fields.h"

namespace sampan::cli {
namespace {

using translator::GenerationField;

std::string flag_name(const GenerationField& field) {
  std::string name = "--" + std::string(field.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

// Sentences or tokens. The parser itself takes -1 for the highest unsigned number.
constexpr int kMostInBatch = 1'000'000'000;

constexpr const char* kSearch = "Search (defaults: the package's generation_config.json)";
constexpr const char* kText = "Text";
constexpr const char* kRunning = "Running";

}  // namespace

void TranslationFlags::add_search_flags(CLI::App& app) {
  CLI::Option* beams = nullptr;
  for (const GenerationField& field : translator::generation_fields()) {
    if (field.of_model) continue;
    const auto set = [this, &field](const std::string& value) {
      GenerationConfig scratch;
      translator::set_generation_field(scratch, field, value);
      generation_[std::string(field.name)] = value;
    };
    const std::string description(field.description);
    CLI::Option* option = nullptr;
    if (std::holds_alternative<bool GenerationConfig::*>(field.member)) {
      option = app.add_flag_function(
          flag_name(field), [set](std::int64_t count) { set(count > 0 ? "true" : "false"); },
          description);
    } else {
      option = app.add_option_function<std::string>(flag_name(field), set, description)
                   ->type_name(std::string(field.value));
    }
    option->group(kSearch);
    if (field.name == "num_beams") beams = option;
  }
  app.add_flag("--greedy", greedy_, "greedy search: the same as --num-beams 1")
      ->group(kSearch)
      ->excludes(beams);
}

void TranslationFlags::add_language_flag(CLI::App& app) {
  app.add_option("--target-language", target_language_,
                 "code of the target language, such as cmn_Hans")
      ->type_name("CODE")
      ->group(kText);
}

void TranslationFlags::add_text_flags(CLI::App& app) {
  app.add_option("--target-prefix", target_prefix_, "text that every translation starts with")
      ->type_name("TEXT")
      ->group(kText);
  app.add_flag("--no-split", no_split_, "do not split lines into sentences")->group(kText);
  app.add_flag("--no-length-guard", no_length_guard_,
               "do not cap translations at 2.5 x source + 16 tokens")
      ->group(kText);
}

void TranslationFlags::add_batch_flags(CLI::App& app) {
  app.add_option("--batch-size", batch_size_, "most sentences of a batch (32)")
      ->type_name("N")
      ->check(CLI::Range(1, kMostInBatch).description(""))
      ->group(kRunning);
  app.add_option("--batch-tokens", batch_tokens_,
                 "most source tokens of a batch, padding included (2048)")
      ->type_name("N")
      ->check(CLI::Range(1, kMostInBatch).description(""))
      ->group(kRunning);
}

void TranslationFlags::add_load_flags(CLI::App& app) {
  app.add_option("--threads", load_.threads,
                 "threads of one operator; 0: what this process may use, shared by the workers")
      ->type_name("N")
      ->group(kRunning);
  app.add_option("--optimization-level", load_.optimization_level,
                 "graph optimisation of ONNX Runtime, 0 to 3 (3)")
      ->type_name("N")
      ->group(kRunning);
  app.add_option("--provider", load_.providers,
                 "execution provider to try before the processor; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kRunning);
  app.add_flag("--spinning", load_.allow_spinning, "let idle threads spin for lower latency")
      ->group(kRunning);
  app.add_flag_callback(
         "--no-memory-arena", [this] { load_.cpu_memory_arena = false; },
         "give memory back between sentences")
      ->group(kRunning);
}

TranslateOptions TranslationFlags::options(const Translator& translator) const {
  TranslateOptions options = translator.default_options();
  for (const GenerationField& field : translator::generation_fields())
    if (const auto found = generation_.find(field.name); found != generation_.end())
      translator::set_generation_field(options.generation, field, found->second);
  // Asking to sample is asking not to keep beams, unless the user asks for both.
  const bool samples = options.generation.do_sample && !generation_.contains("num_beams");
  if (greedy_ || samples) options.generation.num_beams = 1;
  options.target_language = target_language_;
  options.target_prefix = target_prefix_;
  options.split_sentences = !no_split_;
  const bool own_limit =
      generation_.contains("max_length") || generation_.contains("max_new_tokens");
  options.length_guard = !no_length_guard_ && !own_limit;
  options.batch_size = batch_size_.value_or(options.batch_size);
  options.batch_tokens = batch_tokens_.value_or(options.batch_tokens);
  if (const auto problems = options.validate(); !problems.empty())
    base::fail(ErrorCode::kInvalidArgument, "{}", fmt::join(problems, "; "));
  return options;
}

LoadOptions TranslationFlags::load_options(std::size_t workers) const {
  LoadOptions load = load_;
  if (load.threads == 0 && workers > 1)
    load.threads = std::max(1, base::usable_threads() / static_cast<int>(workers));
  return load;
}

RunSettings run_settings(const TranslateOptions& options) {
  RunSettings settings;
  for (const GenerationField& field : translator::generation_fields())
    settings[std::string(field.name)] =
        translator::generation_field_value(options.generation, field);
  settings["target_language"] = options.target_language;
  settings["target_prefix"] = options.target_prefix;
  settings["split_sentences"] = options.split_sentences ? "true" : "false";
  settings["length_guard"] = options.length_guard ? "true" : "false";
  return settings;
}

std::string package_digest(const std::filesystem::path& package) {
  namespace fs = std::filesystem;
  const fs::path manifest = package / "sampan.json";
  if (fs::exists(base::status_of(manifest))) return base::sha256_of_file(manifest).sha256;

  constexpr std::uintmax_t kSmall = std::uintmax_t{1} << 20;
  std::map<std::string, std::uintmax_t> sizes;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(package))
    if (entry.is_regular_file())
      sizes[entry.path().lexically_relative(package).generic_string()] = entry.file_size();
  base::Sha256 digest;
  for (const auto& [name, size] : sizes) {
    const std::string line =
        fmt::format("{} {} {}\n", name, size,
                    size <= kSmall ? base::sha256_of_file(package / name).sha256 : "");
    digest.update(std::as_bytes(std::span(line)));
  }
  return digest.finish();
}

}  // namespace sampan::cli
