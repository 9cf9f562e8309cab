#pragma once

#include <string>
#include <vector>

namespace sampan::cli {

/// English lines of mixed length to translate where no text is given.
std::vector<std::string> sample_lines();

}  // namespace sampan::cli
