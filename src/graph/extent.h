#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::graph {

/// The length of an axis, or a whole number that is computed from lengths: a sum of products of
/// named axes ("past + 1", "64*batch*length"), or unknown. Whatever is computed with an unknown
/// one, or would not fit, is unknown.
class Extent {
 public:
  /// Unknown.
  Extent() = default;
  Extent(std::int64_t number);  // NOLINT(google-explicit-constructor)
  /// An axis as models name it, also a sum ("past_sequence_length + 1"); unknown for no name.
  static Extent named(std::string_view name);

  bool is_known() const noexcept { return terms_.has_value(); }
  /// The number, where no name is left in it.
  std::optional<std::int64_t> number() const;
  /// Whether both are known and equal whatever the names stand for.
  bool equals(const Extent& other) const;
  /// Whether both are known and differ whatever lengths, except 0, the names stand for. Sums with
  /// names are not judged.
  bool never_equals(const Extent& other) const;
  /// "2*batch + 1"; "?" where unknown.
  std::string text() const;

  friend Extent operator+(const Extent& a, const Extent& b);
  friend Extent operator-(const Extent& a, const Extent& b);
  friend Extent operator*(const Extent& a, const Extent& b);
  /// The quotient where it is exact for all values of the names, else unknown.
  friend Extent operator/(const Extent& a, const Extent& b);

 private:
  using Product = std::vector<std::string>;  // names, sorted; none: the number 1
  using Terms = std::map<Product, std::int64_t>;

  explicit Extent(Terms terms);
  void add(const Product& product, std::int64_t count);

  std::optional<Terms> terms_;
};

/// "[batch, 2, ?]".
std::string to_string(const std::vector<Extent>& shape);

}  // namespace sampan::graph
