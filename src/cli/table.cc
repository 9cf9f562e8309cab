#include "cli/table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/utf8.h"

namespace sampan::cli {
namespace {

std::size_t width_of(std::string_view cell) { return base::code_points(cell).size(); }

std::string plain_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string fill(widths[i] - width_of(row[i]), ' ');
    line += i == 0 ? row[i] + fill : "  " + fill + row[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string markdown_row(const std::vector<std::string>& row) {
  std::string line = "|";
  for (const std::string& cell : row) {
    line += ' ';
    for (const char c : cell) {
      if (c == '|') line += '\\';  // it would begin another cell
      line += c;
    }
    line += " |";
  }
  return line + "\n";
}

}  // namespace

std::string plain_table(const Table& table) {
  std::vector<std::size_t> widths(table.header.size());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    widths[i] = width_of(table.header[i]);
    for (const auto& row : table.rows) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text = plain_row(table.header, widths);
  for (const auto& row : table.rows) text += plain_row(row, widths);
  return text;
}

std::string markdown_table(const Table& table) {
  std::string text = markdown_row(table.header) + "|---";
  for (std::size_t i = 1; i < table.header.size(); ++i) text += "|--:";
  text += "|\n";
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

}  // namespace sampan::cli
