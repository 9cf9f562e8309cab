#include "tune/text_lines.h"

#include <string_view>

#include "base/fail.h"
#include "base/mapped_file.h"

namespace sampan::tune {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
/// Figures from fewer lines say nothing.
constexpr std::size_t kLeastLines = 20;

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  const std::string text = base::read_file(file, kMostBytes);
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return lines;
}

ParallelText read_parallel_text(const std::filesystem::path& sources,
                                const std::filesystem::path& references) {
  ParallelText text{read_lines(sources), read_lines(references)};
  if (text.sources.size() != text.references.size())
    base::fail(ErrorCode::kInvalidArgument,
               "{}: has {} lines, and {} has {}; line i of one belongs to line i of the other",
               sources.string(), text.sources.size(), references.string(), text.references.size());
  if (text.sources.size() < kLeastLines)
    base::fail(ErrorCode::kInvalidArgument, "{}: has {} lines; give {} or more", sources.string(),
               text.sources.size(), kLeastLines);
  return text;
}

ParallelText half_of(const ParallelText& text, std::size_t first) {
  ParallelText half;
  for (std::size_t i = first; i < text.sources.size(); i += 2) {
    half.sources.push_back(text.sources[i]);
    half.references.push_back(text.references[i]);
  }
  return half;
}

}  // namespace sampan::tune
