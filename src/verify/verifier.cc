#include "verify/verifier.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/processor.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "checkpoint/checkpoint.h"
#include "decode/generation_config_json.h"
#include "package/manifest.h"
#include "package/package.h"
#include "reference/marian.h"
#include "sampan/translator.h"
#include "session/sequence_model.h"
#include "text/tokenizer.h"
#include "verify/baseline.h"
#include "verify/file_checks.h"
#include "verify/graph_parity.h"
#include "verify/latency.h"
#include "verify/limits.h"
#include "verify/localisation.h"
#include "verify/parity_case.h"
#include "verify/sample_text.h"
#include "verify/token_parity.h"

namespace sampan::verify {
namespace {

using TokenLines = std::vector<std::vector<std::int64_t>>;

void append(std::vector<Check> more, std::vector<Check>& checks) {
  checks.insert(checks.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

std::vector<std::string> lines_of(const VerifyOptions& options) {
  if (!options.lines.empty()) return options.lines;
  const auto sample = sample_text();
  return {sample.begin(), sample.end()};
}

/// The lines as the package's own tokenizer reads them, each as one sentence, as far as the model
/// has positions.
TokenLines tokenize(const package::Package& package, const std::vector<std::string>& lines) {
  const auto tokenizer = text::open_tokenizer(package.folder, package.model_type);
  const auto positions = static_cast<std::size_t>(package.max_positions);
  TokenLines result;
  for (std::string line : lines) {
    base::replace_invalid_utf8(line);
    std::vector<std::int64_t> ids = tokenizer->encode(line, {});
    if (ids.size() > positions) {
      ids[positions - 1] = ids.back();
      ids.resize(positions);
    }
    result.push_back(std::move(ids));
  }
  return result;
}

GenerationConfig generation_defaults(const package::Package& package) {
  decode::GenerationConfigTexts texts{package.folder, package.generation_config_json,
                                      package.config_json};
  if (package.generation_config_json == "{}") texts.generation_config.reset();
  return decode::parse_generation_config(texts);
}

/// The checkpoint's own special tokens, whatever the package says of them.
GenerationConfig checkpoint_defaults(const checkpoint::Checkpoint& checkpoint,
                                     GenerationConfig defaults) {
  const checkpoint::ModelConfig& config = checkpoint.config;
  defaults.decoder_start_token_id = config.decoder_start_token_id;
  defaults.pad_token_id = config.pad_token_id;
  if (!config.eos_token_id.empty()) defaults.eos_token_id = config.eos_token_id;
  return defaults;
}

/// A wrong decoder start alone makes every translation another one.
Check check_special_tokens(const GenerationConfig& ours, const GenerationConfig& expected) {
  const std::string name = "special_tokens";
  if (ours.decoder_start_token_id != expected.decoder_start_token_id)
    return failed(name, fmt::format("decoder_start_token_id is {}, the checkpoint's {}",
                                    ours.decoder_start_token_id, expected.decoder_start_token_id));
  if (ours.pad_token_id != expected.pad_token_id)
    return failed(name, fmt::format("pad_token_id is {}, the checkpoint's {}", ours.pad_token_id,
                                    expected.pad_token_id));
  if (ours.eos_token_id != expected.eos_token_id)
    return failed(name, "eos_token_id is not the checkpoint's");
  return passed(name, "decoder start, padding and end of sentence are the checkpoint's");
}

/// "fp32" where nobody says something else.
std::string precision_of(const package::Package& package) {
  if (!package.has_manifest) return "fp32";
  const std::filesystem::path file = package.folder / package::kManifestName;
  constexpr std::size_t kLongest = std::size_t{16} << 20;
  return package::parse_manifest(base::read_file(file, kLongest), file).precision;
}

/// Nothing where there is no reference for the checkpoint's family.
std::optional<reference::Marian> open_reference(const checkpoint::Checkpoint& checkpoint) {
  if (checkpoint.config.model_type != "marian") return std::nullopt;
  return reference::Marian(checkpoint);
}

void compare_with_reference(const package::Package& package,
                            const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options,
                            Report& report) {
  const auto model = open_reference(checkpoint);
  if (!model) {
    for (const char* name : {"graphs", "tokens"})
      report.checks.push_back(not_checked(
          name, fmt::format("there is no reference for the family '{}': what the graphs compute "
                            "was not compared with anything",
                            checkpoint.config.model_type)));
    return;
  }
  session::SessionOptions session;
  session.intra_op_threads = options.threads > 0 ? options.threads : base::usable_threads();
  const Limits limits = limits_of(precision_of(package));
  const TokenLines lines = tokenize(package, lines_of(options));
  report.lines = lines.size();
  // Nobody else promises that several tokens may follow a past at once.
  const auto cases =
      parity_cases(checkpoint.config, lines,
                   {.longest = options.longest_position, .chunks = package.has_manifest});
  std::vector<ReferenceAnswers> answers;
  for (const ParityCase& parity_case : cases) {
    if (options.stop.stop_requested())
      base::fail(ErrorCode::kCancelled, "stopped before the verification was done");
    if (options.progress)
      options.progress(fmt::format("asking the reference: {}", parity_case.name));
    answers.push_back(answer(*model, parity_case));
  }
  std::vector<Check> parity = check_graph_parity(
      {package, cases, answers, limits, session, options.progress, options.stop});
  const bool wrong = std::ranges::find(parity, Outcome::kFailed, &Check::outcome) != parity.end();
  append(std::move(parity), report.checks);
  Localisation inside = localise({package,
                                  *model,
                                  cases,
                                  answers,
                                  limits,
                                  session,
                                  wrong,
                                  {},
                                  options.progress,
                                  options.stop});
  report.checks.push_back(check_inner_values(inside, limits.inner_values));
  report.places = std::move(inside.places);
  report.inner_values = std::move(inside.inner_values);
  append(std::move(inside.not_checked), report.checks);
  const GenerationConfig defaults = generation_defaults(package);
  const GenerationConfig expected = checkpoint_defaults(checkpoint, defaults);
  report.checks.push_back(check_special_tokens(defaults, expected));
  append(check_token_parity({package, *model, lines, defaults, expected, limits,
                             session.intra_op_threads, session, options.progress, options.stop}),
         report.checks);
}

constexpr std::string_view kLatencyText = "My brother is two years older than I am.";

/// A missing language is the user's to name, and no fault of the package.
void check_target_language(const Translator& translator, const std::string& language) {
  const std::vector<std::string> known = translator.target_languages();
  if (known.empty() ? language.empty() : std::ranges::count(known, language) > 0) return;
  if (known.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "target language '{}': the package has one target; leave --target-language out",
               language);
  base::fail(ErrorCode::kInvalidArgument,
             "target language '{}': the package has several; name one of them with "
             "--target-language: {}",
             language, fmt::join(known, ", "));
}

/// Whether `work` went through; what it threw is a fault of the package.
bool translates(const std::function<void()>& work, Report& report) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    report.checks.push_back(failed("translates", error.what()));
    return false;
  }
}

/// What needs the package as its users have it: from text to text.
void run_translator(const package::Package& package, const std::vector<BaselineLine>& baseline,
                    const VerifyOptions& options, Report& report) {
  if (baseline.empty() && options.latency_runs == 0) return;
  LoadOptions load;
  load.threads = options.threads > 0 ? options.threads : base::usable_threads();
  std::optional<Translator> loaded;
  if (!translates([&] { loaded = Translator::load(package.folder, load); }, report)) return;
  check_target_language(*loaded, options.target_language);
  const auto measure = [&] {
    if (!baseline.empty()) {
      const auto tokenizer = text::open_tokenizer(package.folder, package.model_type);
      BaselineFindings findings = check_baseline(
          {*loaded, *tokenizer, baseline, limits_of(precision_of(package)).different_lines,
           options.target_language, options.progress, options.stop});
      report.checks.push_back(std::move(findings.check));
      report.line_differences = std::move(findings.differences);
    }
    if (options.latency_runs > 0)
      report.latency = measure_latency(
          {*loaded, options.latency_text.empty() ? std::string(kLatencyText) : options.latency_text,
           options.latency_runs, options.target_language, load.threads, options.progress,
           options.stop});
  };
  translates(measure, report);
}

}  // namespace

Report verify_package(const std::filesystem::path& package_folder,
                      const std::filesystem::path& checkpoint_folder,
                      const VerifyOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const package::Package package =
      package::open_package(package_folder, session::runtime_version());
  const checkpoint::Checkpoint checkpoint = checkpoint::open_checkpoint(checkpoint_folder);
  // Read before any work: a wrong file should not be found out after minutes.
  std::vector<BaselineLine> baseline;
  if (!options.baseline.empty()) baseline = read_baseline(options.baseline);
  Report report;
  if (package.has_manifest)
    report.manifest_sha256 = base::sha256_of_file(package.folder / package::kManifestName).sha256;
  if (options.progress) options.progress("reading files");
  append(check_files(package, checkpoint.folder), report.checks);
  append(check_graph_files(package), report.checks);
  compare_with_reference(package, checkpoint, options, report);
  run_translator(package, baseline, options, report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace sampan::verify
