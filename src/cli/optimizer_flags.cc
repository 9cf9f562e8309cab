#include "cli/optimizer_flags.h"

#include <CLI/CLI.hpp>
#include <map>

namespace sampan::cli {

void add_purpose_flag(CLI::App& command, OptimizedFor& purpose, const std::string& help) {
  const std::map<std::string, OptimizedFor> purposes = {{"latency", OptimizedFor::kLatency},
                                                        {"throughput", OptimizedFor::kThroughput}};
  command.add_option("--for", purpose, help)
      ->transform(CLI::CheckedTransformer(purposes).description(""))
      ->type_name("NAME");
}

}  // namespace sampan::cli
