#include "cli/portable_scheme_flags.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/fail.h"

namespace sampan::cli {
namespace {

constexpr std::pair<std::string_view, CalibrationMethod> kMethods[] = {
    {"minmax", CalibrationMethod::kMinMax},
    {"percentile", CalibrationMethod::kPercentile},
    {"entropy", CalibrationMethod::kEntropy},
};

CalibrationMethod method_named(const std::string& name) {
  for (const auto& [known, method] : kMethods)
    if (known == name) return method;
  base::fail(ErrorCode::kInvalidArgument,
             "--calibration-method is '{}'; it must be one of minmax, percentile, entropy", name);
}

void add_calibration_flags(CLI::App& command, QuantizeOptions& options) {
  command
      .add_option(
          "--calibration", options.calibration,
          "with static-int8, fp16 or --gptq: source text to measure activations on, or .npz of "
          "input_ids and attention_mask; with auto: text to measure speed and loss on")
      ->type_name("FILE");
  command
      .add_option("--calibration-lines", options.calibration_lines,
                  "sentences taken from the front of it; 0: all (0)")
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--calibration-method",
          [&options](const std::string& name) { options.calibration_method = method_named(name); },
          "minmax, percentile or entropy: how static-int8 chooses a range (minmax)")
      ->type_name("NAME");
  command
      .add_option("--percentile", options.percentile,
                  "with percentile: share of the values inside the range, in percent (99.999)")
      ->type_name("X");
  command.add_flag("--symmetric-encoder", options.symmetric_encoder,
                   "with static-int8: ranges around 0 for the encoder's activations");
  command.add_flag("--symmetric-decoder", options.symmetric_decoder, "the same for the decoder's");
  command
      .add_option("--target-language", options.target_language,
                  "what multilingual models translate the calibration text into")
      ->type_name("CODE");
}

}  // namespace

void add_portable_scheme_flags(CLI::App& command, QuantizeOptions& options) {
  command.add_flag("--per-tensor", options.per_tensor,
                   "with dynamic-int8 or static-int8: one scale a weight instead of one an output");
  command.add_flag("--unsigned", options.unsigned_weights,
                   "with dynamic-int8 or static-int8: uint8 weights");
  command.add_flag("--reduce-range", options.reduce_range,
                   "with dynamic-int8 or static-int8: 7-bit weights, for x86 processors without "
                   "VNNI");
  add_calibration_flags(command, options);
}

}  // namespace sampan::cli
