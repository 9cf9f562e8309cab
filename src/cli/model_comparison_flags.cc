#include "cli/model_comparison_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <utility>

#include "base/fail.h"

namespace sampan::cli {
namespace {

std::pair<std::string, std::int64_t> axis_size(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  std::int64_t size = 0;
  if (equals != std::string::npos && equals > 0) {
    const char* end = text.data() + text.size();
    const auto [place, error] = std::from_chars(text.data() + equals + 1, end, size);
    if (error == std::errc() && place == end) return {text.substr(0, equals), size};
  }
  base::fail(ErrorCode::kInvalidArgument, "--dim {}: give an axis and its size, as in batch_size=4",
             text);
}

}  // namespace

void ModelComparisonFlags::add(CLI::App& app) {
  constexpr const char* kGroup = "Comparing any ONNX model (MODEL.onnx instead of PACKAGE)";
  app.add_option("--against", against_, "another model to compare with, output by output")
      ->type_name("MODEL.onnx")
      ->group(kGroup);
  app.add_option("--expect", expected_, "arrays of inputs and expected outputs, by their names")
      ->type_name("DATA.npz")
      ->group(kGroup);
  app.add_option("--inputs", inputs_, "with --against: arrays of inputs; default: made up")
      ->type_name("DATA.npz")
      ->group(kGroup);
  app.add_option("--dim", axes_, "with --against: size of a named axis; may be given again")
      ->type_name("AXIS=N")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--max-id", id_limit_, "with --against: whole numbers lie below N")
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--limit", limit_,
                 "largest difference allowed, relative to the largest value (1e-4)")
      ->type_name("X")
      ->group(kGroup);
}

bool ModelComparisonFlags::any() const {
  return given() || !inputs_.empty() || !axes_.empty() || id_limit_ || limit_;
}

verify::ModelComparisonOptions ModelComparisonFlags::options() const {
  verify::ModelComparisonOptions options;
  options.against = against_;
  options.expected = expected_;
  options.inputs = inputs_;
  for (const std::string& axis : axes_) options.made_up.axes.insert(axis_size(axis));
  options.made_up.id_limit = id_limit_;
  if (limit_) options.limit = *limit_;
  return options;
}

}  // namespace sampan::cli
