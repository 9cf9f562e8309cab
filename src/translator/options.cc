#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/utf8.h"
#include "sampan/translator.h"

namespace sampan {

std::vector<std::string> LoadOptions::validate() const {
  std::vector<std::string> problems;
  if (threads < 0) problems.push_back(fmt::format("threads is {}; give 0 or more", threads));
  if (optimization_level < 0 || optimization_level > 3)
    problems.push_back(
        fmt::format("optimization_level is {}; give a level from 0 to 3", optimization_level));
  return problems;
}

std::vector<std::string> TranslateOptions::validate() const {
  std::vector<std::string> problems = generation.validate();
  if (batch_size < 1) problems.push_back("batch_size is 0; give 1 or more");
  if (batch_tokens < 1) problems.push_back("batch_tokens is 0; give 1 or more");
  if (base::valid_utf8_length(target_prefix) != target_prefix.size())
    problems.push_back("target_prefix is not valid UTF-8; convert it");
  if (on_token && generation.num_beams > 1)
    problems.push_back(
        fmt::format("tokens cannot be watched as they come with num_beams {}: beam search chooses "
                    "at the end; take num_beams 1",
                    generation.num_beams));
  return problems;
}

}  // namespace sampan
