#include "tune/block_scheme.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "quantize/block_operators.h"
#include "tune/compensation.h"
#include "tune/kernel_check.h"
#include "tune/loss_search.h"
#include "tune/name_pattern.h"

namespace sampan::tune {
namespace {

using quantize::BlockScheme;

/// What the options alone say.
BlockPlan plan_of(const QuantizeOptions& options) {
  const BlockScheme blocks{options.scheme == QuantizationScheme::kInt4 ? 4 : 8, options.block_size,
                           !options.asymmetric};
  const auto keep_float = std::make_shared<const NamePattern>(options.keep_float, "--keep-float");
  const auto keep_int8 = std::make_shared<const NamePattern>(options.keep_int8, "--keep-int8");
  BlockPlan plan;
  plan.record = {
      fmt::format("int{}-block{}{}{}", blocks.bits, blocks.block_size,
                  blocks.symmetric ? "" : "-asymmetric", options.keep_int8.empty() ? "" : "-mixed"),
      fmt::format("int{}", blocks.bits), quantize::kBlockOperatorsRuntime};
  plan.choose = [blocks, keep_float,
                 keep_int8](const std::string& name) -> std::optional<BlockScheme> {
    if (keep_float->matches(name)) return std::nullopt;
    BlockScheme chosen = blocks;
    if (keep_int8->matches(name)) chosen.bits = 8;
    return chosen;
  };
  return plan;
}

}  // namespace

PreparedScheme prepare_blocks(const QuantizeOptions& options, const SourcePackage& source,
                              const Progress& progress) {
  BlockPlan plan = plan_of(options);
  check_runtime(plan.record);
  const auto store = options.gptq ? compensated_store(options, source, plan, progress)
                                  : std::make_shared<quantize::WeightStore>();
  if (options.max_bleu_loss) plan = search_within_loss(options, source, plan, store, progress);
  PreparedScheme prepared;
  prepared.scheme = std::make_unique<quantize::WeightOnlyScheme>(std::move(plan.record), store,
                                                                 std::move(plan.choose));
  prepared.check_kernels = [store] { check_kernels(*store); };
  return prepared;
}

}  // namespace sampan::tune
