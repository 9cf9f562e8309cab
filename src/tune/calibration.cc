#include "tune/calibration.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/fail.h"
#include "decode/generation_config_json.h"
#include "decode/search.h"
#include "package/package.h"
#include "session/sequence_model.h"
#include "text/tokenizer.h"
#include "translator/target_limits.h"
#include "tune/activation_histogram.h"
#include "tune/calibration_text.h"
#include "tune/observed_step_model.h"

namespace sampan::tune {
namespace {

constexpr std::size_t kReportEvery = 50;

/// What was seen of each weight's activations.
struct Observations {
  std::map<std::string, ActivationHistogram, std::less<>> histograms;
  std::set<std::string, std::less<>> encoder;  ///< the encoder's weights
};

RangeMethod method_of(CalibrationMethod method) {
  switch (method) {
    case CalibrationMethod::kMinMax:
      return RangeMethod::kMinMax;
    case CalibrationMethod::kPercentile:
      return RangeMethod::kPercentile;
    case CalibrationMethod::kEntropy:
      return RangeMethod::kEntropy;
  }
  base::fail(ErrorCode::kInternal, "calibration method {} is unknown", static_cast<int>(method));
}

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

Observations observe(const SourcePackage& source, const QuantizeOptions& options,
                     const Progress& progress) {
  const package::Package package = package::open_package(source.folder, session::runtime_version());
  const auto tokenizer = text::open_tokenizer(package.folder, package.model_type);
  const std::string language = language_of(options, *tokenizer);
  const decode::SourceBatch sentences = read_calibration_text(
      {options.calibration, options.calibration_lines, package.max_positions, language},
      *tokenizer);
  const GenerationConfig config = greedy(source, *tokenizer, language);
  Observations seen;
  ObservedStepModel model(source, [&](const std::string& weight, std::span<const float> values) {
    seen.histograms[weight].add(values);
  });
  seen.encoder = model.encoder_weights();
  std::size_t done = 0;
  for (const std::vector<std::int64_t>& sentence : sentences) {
    decode::SearchInput input{sentence, {}, std::nullopt};
    input.max_length = translator::target_limit(
        config, {.source_tokens = sentence.size(), .max_positions = model.max_positions()});
    decode::SearchControl control;
    control.stop = progress.stop;
    decode::search(model, std::span(&input, 1), config, control);
    if (++done % kReportEvery == 0 || done == sentences.size())
      progress.say(fmt::format("calibrated with {} of {} sentences", done, sentences.size()));
  }
  return seen;
}

}  // namespace

std::string method_name(const QuantizeOptions& options) {
  std::string name = "minmax";
  if (options.calibration_method == CalibrationMethod::kEntropy) name = "entropy";
  if (options.calibration_method == CalibrationMethod::kPercentile)
    name = fmt::format("percentile{}", options.percentile);
  if (options.symmetric_encoder && options.symmetric_decoder) return name + "-symmetric";
  if (options.symmetric_encoder) name += "-symmetric-encoder";
  if (options.symmetric_decoder) name += "-symmetric-decoder";
  return name;
}

quantize::ActivationRanges calibrate(const SourcePackage& source, const QuantizeOptions& options,
                                     const Progress& progress) {
  const Observations seen = observe(source, options, progress);
  quantize::ActivationRanges ranges;
  for (const auto& [weight, histogram] : seen.histograms) {
    const bool symmetric =
        seen.encoder.contains(weight) ? options.symmetric_encoder : options.symmetric_decoder;
    ranges.emplace(weight, histogram.range(method_of(options.calibration_method),
                                           1.0 - options.percentile / 100.0, symmetric));
  }
  return ranges;
}

}  // namespace sampan::tune
