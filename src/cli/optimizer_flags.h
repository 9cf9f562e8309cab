#pragma once

#include <string>

#include "sampan/optimizer.h"

namespace CLI {
class App;
}

namespace sampan::cli {

/// Declares --for: what a package of 8 bits is made for.
void add_purpose_flag(CLI::App& command, OptimizedFor& purpose, const std::string& help);

}  // namespace sampan::cli
