#include "tune/calibration_run.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "decode/generation_config_json.h"
#include "decode/search.h"
#include "package/package.h"
#include "session/sequence_model.h"
#include "text/tokenizer.h"
#include "translator/target_limits.h"
#include "tune/calibration_text.h"

namespace sampan::tune {
namespace {

constexpr std::size_t kReportEvery = 50;

GenerationConfig greedy(const SourcePackage& source, const text::Tokenizer& tokenizer,
                        const std::string& language) {
  GenerationConfig config = decode::read_generation_config(source.folder);
  config.num_beams = 1;
  config.num_return_sequences = 1;
  config.do_sample = false;
  if (const auto token = tokenizer.forced_bos_token_id(language))
    config.forced_bos_token_id = token;
  return config;
}

/// The asked-for language, or the first one that a multilingual model has.
std::string language_of(const QuantizeOptions& options, const text::Tokenizer& tokenizer) {
  if (!options.target_language.empty()) return options.target_language;
  const std::vector<std::string> languages = tokenizer.target_languages();
  return languages.empty() ? std::string() : languages.front();
}

}  // namespace

CalibrationRun decode_observed(const SourcePackage& source, const QuantizeOptions& options,
                               const Progress& progress, const ObserveSentence& observe) {
  const package::Package package = package::open_package(source.folder, session::runtime_version());
  const auto tokenizer = text::open_tokenizer(package.folder, package.model_type);
  const std::string language = language_of(options, *tokenizer);
  CalibrationRun run;
  run.sources = read_calibration_text(
      {options.calibration, options.calibration_lines, package.max_positions, language},
      *tokenizer);
  run.generation = greedy(source, *tokenizer, language);
  ObservedStepModel model(source,
                          [&](const ObservedInput& input) { observe(run.targets.size(), input); });
  for (const std::vector<std::int64_t>& sentence : run.sources) {
    decode::SearchInput input{sentence, {}, std::nullopt};
    input.max_length = translator::target_limit(
        run.generation, {.source_tokens = sentence.size(), .max_positions = model.max_positions()});
    decode::SearchControl control;
    control.stop = progress.stop;
    auto found = decode::search(model, std::span(&input, 1), run.generation, control);
    run.targets.push_back(std::move(found.front().front().tokens));
    const std::size_t done = run.targets.size();
    if (done % kReportEvery == 0 || done == run.sources.size())
      progress.say(fmt::format("calibrated with {} of {} sentences", done, run.sources.size()));
  }
  return run;
}

}  // namespace sampan::tune
