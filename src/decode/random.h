#pragma once

#include <cstdint>
#include <span>

namespace sampan::decode {

/// The sampler's own stream of random numbers: SplitMix64 (Steele, Lea, Flood 2014), seeded with
/// the caller's seed and what is translated. The same on every platform and in every batch; not the
/// stream of torch.
class Random {
 public:
  /// `number` tells apart the several targets drawn for one sentence.
  Random(std::uint64_t seed, std::span<const std::int64_t> source,
         std::span<const std::int64_t> prompt, std::int64_t number) noexcept
      : state_(seed) {
    for (const std::int64_t token : source) absorb(token);
    absorb(-1);
    for (const std::int64_t token : prompt) absorb(token);
    absorb(number);
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double next() noexcept { return static_cast<double>(next_bits() >> 11) * 0x1p-53; }

 private:
  std::uint64_t next_bits() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
  }
  void absorb(std::int64_t value) noexcept {
    state_ = next_bits() ^ static_cast<std::uint64_t>(value);
  }

  std::uint64_t state_;
};

}  // namespace sampan::decode
