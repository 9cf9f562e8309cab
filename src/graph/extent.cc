#include "graph/extent.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

namespace sampan::graph {
namespace {

/// More than any graph needs; a hostile one shall not take time.
constexpr std::size_t kMostTerms = 16;
constexpr std::size_t kMostFactors = 8;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Extent summand(std::string_view text, const Extent& name) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return name;
}

}  // namespace

Extent::Extent(std::int64_t number) : terms_(Terms{}) { add({}, number); }

Extent::Extent(Terms terms) : terms_(std::move(terms)) {}

Extent Extent::named(std::string_view name) {
  if (trimmed(name).empty()) return {};
  Extent sum = 0;
  for (;;) {
    const std::size_t plus = name.find('+');
    const std::string_view part = trimmed(name.substr(0, plus));
    if (part.empty()) return {};
    sum = sum + summand(part, Extent(Terms{{{std::string(part)}, 1}}));
    if (plus == std::string_view::npos) return sum;
    name.remove_prefix(plus + 1);
  }
}

void Extent::add(const Product& product, std::int64_t count) {
  if (!terms_ || count == 0) return;
  std::int64_t& sum = (*terms_)[product];
  if (__builtin_add_overflow(sum, count, &sum)) return terms_.reset();
  if (sum == 0) terms_->erase(product);
  if (terms_->size() > kMostTerms || product.size() > kMostFactors) terms_.reset();
}

std::optional<std::int64_t> Extent::number() const {
  if (!terms_ || terms_->size() > 1) return std::nullopt;
  if (terms_->empty()) return 0;
  const auto& [product, count] = *terms_->begin();
  if (!product.empty()) return std::nullopt;
  return count;
}

bool Extent::equals(const Extent& other) const {
  return terms_ && other.terms_ && *terms_ == *other.terms_;
}

bool Extent::never_equals(const Extent& other) const {
  const auto mine = number();
  const auto theirs = other.number();
  if (mine && theirs) return *mine != *theirs;
  if (!terms_ || !other.terms_ || terms_->size() != 1 || other.terms_->size() != 1) return false;
  const auto& [product, count] = *terms_->begin();
  const auto& [other_product, other_count] = *other.terms_->begin();
  return product == other_product && count != other_count;
}

std::string Extent::text() const {
  if (!terms_) return "?";
  std::string text;
  for (const auto& [product, count] : *terms_) {
    if (!text.empty()) text += " + ";
    if (product.empty() || count != 1) text += std::to_string(count);
    if (!product.empty())
      text += fmt::format("{}{}", count == 1 ? "" : "*", fmt::join(product, "*"));
  }
  return text.empty() ? "0" : text;
}

Extent operator+(const Extent& a, const Extent& b) {
  if (!a.terms_ || !b.terms_) return {};
  Extent sum = a;
  for (const auto& [product, count] : *b.terms_) sum.add(product, count);
  return sum;
}

Extent operator-(const Extent& a, const Extent& b) { return a + b * Extent(-1); }

Extent operator*(const Extent& a, const Extent& b) {
  if (!a.terms_ || !b.terms_) return {};
  Extent result = 0;
  for (const auto& [left, left_count] : *a.terms_)
    for (const auto& [right, right_count] : *b.terms_) {
      Extent::Product product;
      std::ranges::merge(left, right, std::back_inserter(product));
      std::int64_t count = 0;
      if (__builtin_mul_overflow(left_count, right_count, &count)) return {};
      result.add(product, count);
    }
  return result;
}

Extent operator/(const Extent& a, const Extent& b) {
  if (!a.terms_ || !b.terms_ || b.terms_->empty()) return {};
  if (a.equals(b)) return 1;
  if (b.terms_->size() > 1) return {};
  const auto& [divisor, divisor_count] = *b.terms_->begin();
  Extent result = 0;
  for (const auto& [product, count] : *a.terms_) {
    // The one quotient that does not fit would also trap.
    if (count == std::numeric_limits<std::int64_t>::min() || count % divisor_count != 0) return {};
    if (!std::ranges::includes(product, divisor)) return {};
    Extent::Product rest;
    std::ranges::set_difference(product, divisor, std::back_inserter(rest));
    result.add(rest, count / divisor_count);
  }
  return result;
}

std::string to_string(const std::vector<Extent>& shape) {
  std::vector<std::string> texts;
  for (const Extent& extent : shape) texts.push_back(extent.text());
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace sampan::graph
