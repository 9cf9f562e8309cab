// What the K/V cache is worth: the same targets decoded token by token, once with the cache and once
// with everything computed anew at every step, the encoder included.
//
//   sampan_cached_decoding PACKAGE TOKENS THREADS

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "package/package.h"
#include "session/sequence_model.h"

namespace {

using Clock = std::chrono::steady_clock;
using Ids = std::vector<std::int64_t>;

constexpr int kRounds = 3;

/// Any ids do: time does not depend on them.
const sampan::decode::SourceBatch kSource = {
    {5, 17, 33, 8, 91, 40, 12, 7, 66, 25, 9, 4, 81, 30, 0}};

double decode_with_cache(sampan::decode::StepModel& model, const Ids& target) {
  const Clock::time_point begin = Clock::now();
  model.start(kSource);
  for (const std::int64_t token : target) model.step(Ids{token}, 1);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double decode_without_cache(sampan::decode::StepModel& model, const Ids& target) {
  const Clock::time_point begin = Clock::now();
  for (std::size_t length = 1; length <= target.size(); ++length) {
    model.start(kSource);
    model.step({target.data(), length}, static_cast<std::int64_t>(length));
  }
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <typename Decode>
double median_seconds(Decode decode) {
  decode();
  std::vector<double> seconds;
  for (int round = 0; round < kRounds; ++round) seconds.push_back(decode());
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: sampan_cached_decoding PACKAGE TOKENS THREADS\n";
    return EXIT_FAILURE;
  }
  try {
    sampan::session::SessionOptions options;
    options.intra_op_threads = std::stoi(argv[3]);
    const auto package = sampan::package::open_package(argv[1], sampan::session::runtime_version());
    const auto model = sampan::session::SequenceModel::load(package, options)->new_step_model();
    Ids target;
    for (int i = 0; i < std::stoi(argv[2]); ++i) target.push_back(10 + i % 50);
    const double cached = median_seconds([&] { return decode_with_cache(*model, target); });
    const double uncached = median_seconds([&] { return decode_without_cache(*model, target); });
    std::cout << target.size() << " tokens: " << cached << " s with the cache, " << uncached
              << " s without, " << uncached / cached << " times\n";
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "sampan_cached_decoding: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
