#include <fmt/ranges.h>

#include "architectures/architecture.h"
#include "architectures/m2m100.h"
#include "architectures/marian.h"
#include "base/fail.h"

namespace sampan::architectures {
namespace {

constexpr std::int64_t kLeastOpset = 14;
constexpr std::int64_t kMostOpset = 18;

}  // namespace

std::vector<Architecture> architectures() { return {{"m2m_100", build_m2m100}, {"marian", build_marian}}; }

Seq2SeqGraphs build_graphs(const checkpoint::Checkpoint& checkpoint, const GraphOptions& options) {
  if (options.opset < kLeastOpset || options.opset > kMostOpset)
    base::fail(ErrorCode::kUnsupported, "opset {} is not supported; choose one from {} to {}",
               options.opset, kLeastOpset, kMostOpset);
  std::vector<std::string_view> names;
  for (const Architecture& architecture : architectures()) {
    if (architecture.model_type == checkpoint.config.model_type)
      return architecture.build(checkpoint, options);
    names.push_back(architecture.model_type);
  }
  base::fail(ErrorCode::kUnsupported, "{}: model_type '{}' is not supported; supported are: {}",
             (checkpoint.folder / "config.json").string(), checkpoint.config.model_type,
             fmt::join(names, ", "));
}

}  // namespace sampan::architectures
