#pragma once

#include <string>
#include <vector>

namespace sampan::cli {

/// Figures for people: a row of headings, then rows of as many cells.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// Columns of even width, the first to the left and the others to the right; each line ends in
/// "\n".
std::string plain_table(const Table& table);
/// The same as Markdown.
std::string markdown_table(const Table& table);

}  // namespace sampan::cli
