#include "decode/row_scan.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

// Two copies of the loops, chosen when the program is loaded: for processors with AVX2 and for all
// others. Sanitizers run before the choice can be made, so they get the plain copy alone.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SAMPAN_FOR_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define SAMPAN_FOR_WIDE_VECTORS
#endif

namespace sampan::decode {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Eight numbers at a time, written with the compilers' vector types: the loops below are too
/// intricate for automatic vectorisation, and intrinsics would tie them to one processor.
constexpr std::size_t kLanes = 8;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Ints = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

constexpr float kLowest = -87.0F;         // 2^n below stays a normal number
constexpr float kRounding = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
constexpr float kInverseLn2 = 1.44269504F;
constexpr float kLn2High = 0.693359375F;
constexpr float kLn2Low = -2.12194440e-4F;

/// exp(x) = 2^n * exp(r) with n = round(x / ln 2), |r| <= ln(2) / 2, and a polynomial for exp(r)
/// (Taylor coefficients refined for the interval, as in Cephes' expf). In place: a vector must not
/// be passed by value between functions that may be compiled for different processors.
inline __attribute__((always_inline)) void exponentiate(Floats& x) noexcept {
  x = x < kLowest ? Floats{} + kLowest : x;
  const Floats shifted = x * kInverseLn2 + kRounding;
  const Floats whole = shifted - kRounding;
  const Floats r = (x - whole * kLn2High) - whole * kLn2Low;
  Floats p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  // The whole number n sits in the low bits of `shifted`; adding it to the exponent scales by 2^n.
  x = reinterpret_cast<Floats>(reinterpret_cast<Ints>(p) + (reinterpret_cast<Ints>(shifted) << 23));
}

inline __attribute__((always_inline)) void load(Floats& to, const float* from) noexcept {
  std::memcpy(&to, from, sizeof to);
}

/// Maxima of `count` whole blocks; false if an entry is NaN or +infinity.
SAMPAN_FOR_WIDE_VECTORS
bool scan_blocks(const float* row, std::size_t count, float* blocks) noexcept {
  Ints good = Ints{} - 1;
  for (std::size_t block = 0; block < count; ++block) {
    Floats highest = Floats{} - kInfinity;
    for (std::size_t i = 0; i < kRowBlock; i += kLanes) {
      Floats x;
      load(x, row + block * kRowBlock + i);
      highest = x > highest ? x : highest;
      good &= x < kInfinity;
    }
    float result = highest[0];
    for (std::size_t lane = 1; lane < kLanes; ++lane) result = std::max(result, highest[lane]);
    blocks[block] = result;
  }
  std::int32_t all = -1;
  for (std::size_t lane = 0; lane < kLanes; ++lane) all &= good[lane];
  return all != 0;
}

/// Sum of exp(row[i] - highest) over `count` entries, a multiple of 2 * kLanes.
SAMPAN_FOR_WIDE_VECTORS
double sum_lanes(const float* row, std::size_t count, float highest) noexcept {
  Floats even{};
  Floats odd{};
  for (std::size_t i = 0; i < count; i += 2 * kLanes) {
    Floats x;
    Floats y;
    load(x, row + i);
    load(y, row + i + kLanes);
    x -= highest;
    y -= highest;
    exponentiate(x);
    exponentiate(y);
    even += x;
    odd += y;
  }
  double sum = 0.0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sum += static_cast<double>(even[lane]) + static_cast<double>(odd[lane]);
  }
  return sum;
}

}  // namespace

bool RowMaxima::scan(std::span<const float> row) {
  const std::size_t whole = row.size() / kRowBlock;
  blocks_.resize((row.size() + kRowBlock - 1) / kRowBlock);
  bool good = scan_blocks(row.data(), whole, blocks_.data());
  if (whole < blocks_.size()) {
    float highest = -kInfinity;
    for (const float x : row.subspan(whole * kRowBlock)) {
      highest = std::max(highest, x);
      good = good && x < kInfinity;
    }
    blocks_.back() = highest;
  }
  highest_ = *std::max_element(blocks_.begin(), blocks_.end());
  return good;
}

float exp_of_negative(float x) noexcept {
  Floats lanes = Floats{} + x;
  exponentiate(lanes);
  return lanes[0];
}

float sum_of_exponentials(std::span<const float> row, float highest) noexcept {
  const std::size_t whole = row.size() / (2 * kLanes) * (2 * kLanes);
  double sum = sum_lanes(row.data(), whole, highest);
  for (const float x : row.subspan(whole)) {
    sum += static_cast<double>(exp_of_negative(x - highest));
  }
  return static_cast<float>(sum);
}

}  // namespace sampan::decode
