#include "reference/product.h"

#include <algorithm>
#include <vector>

namespace sampan::reference {
namespace {

// A tile of the result, small enough for the registers: kLanes rows of x at once, side by side in a
// vector, times kOutputs rows of W.
constexpr Index kLanes = 8;
constexpr Index kOutputs = 6;
// Aligned like a double: g++ gives it 16 bytes where memory is taken, and 64 in code for AVX-512.
using Lanes [[gnu::vector_size(kLanes * sizeof(double)), gnu::aligned(sizeof(double))]] = double;

/// kLanes rows of x, transposed: for each input, its value in every row.
struct Column {
  Lanes values;
};
using Block = std::vector<Column>;

struct Factors {
  const std::vector<Block>& blocks;  // zeros stand behind the last row of x
  const Matrix& weight;
  Matrix& result;
};

[[gnu::always_inline]] inline void multiply_tile(const Factors& f, std::size_t block,
                                                 Index output) {
  const Index outputs = std::min(kOutputs, f.weight.rows() - output);
  const Index inputs = f.weight.cols();
  const Column* x = f.blocks[block].data();
  const double* rows[kOutputs];
  // Behind the last output the last one is computed again, and not kept.
  for (Index o = 0; o < kOutputs; ++o)
    rows[o] = f.weight.data() + (output + std::min(o, outputs - 1)) * inputs;
  Lanes sums[kOutputs] = {};
  for (Index i = 0; i < inputs; ++i) {
    const Lanes values = x[i].values;
#pragma GCC unroll 6
    for (Index o = 0; o < kOutputs; ++o) sums[o] += rows[o][i] * values;
  }
  const Index first = static_cast<Index>(block) * kLanes;
  const Index lanes = std::min(kLanes, f.result.rows() - first);
  for (Index lane = 0; lane < lanes; ++lane)
    for (Index o = 0; o < outputs; ++o) f.result(first + lane, output + o) = sums[o][lane];
}

[[gnu::always_inline]] inline void multiply_all(const Factors& f) {
  for (Index output = 0; output < f.weight.rows(); output += kOutputs)
    for (std::size_t block = 0; block < f.blocks.size(); ++block) multiply_tile(f, block, output);
}

void multiply(const Factors& factors) { multiply_all(factors); }

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void multiply_avx2(const Factors& factors) { multiply_all(factors); }
[[gnu::target("avx512f,fma")]] void multiply_avx512(const Factors& factors) {
  multiply_all(factors);
}
#endif

}  // namespace

Matrix product_with_transposed(const Matrix& x, const Matrix& weight) {
  std::vector<Block> blocks;
  for (Index first = 0; first < x.rows(); first += kLanes) {
    Block& block = blocks.emplace_back(static_cast<std::size_t>(x.cols()), Column{});
    for (Index lane = 0; lane < std::min(kLanes, x.rows() - first); ++lane)
      for (Index i = 0; i < x.cols(); ++i)
        block[static_cast<std::size_t>(i)].values[lane] = x(first + lane, i);
  }
  Matrix result(x.rows(), weight.rows());
  const Factors factors{blocks, weight, result};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    multiply_avx512(factors);
    return result;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    multiply_avx2(factors);
    return result;
  }
#endif
  multiply(factors);
  return result;
}

}  // namespace sampan::reference
