// What the search itself costs in each step of decoding, at the size of opus-mt-en-zh. The model is
// a table of logits that costs nothing; a decoder step of that size takes about 10 ms for 4 rows.

#include <benchmark/benchmark.h>

#include <random>

#include "decode/search.h"
#include "decode/top_k.h"

namespace sampan::decode {
namespace {

constexpr std::int64_t kVocabSize = 65001;
constexpr std::int64_t kSteps = 60;

/// Logits as a translation model's: most far below the best few. Rows come from a long table, so
/// that steps and rows differ.
class TableModel final : public StepModel {
 public:
  TableModel() : table_(static_cast<std::size_t>(kVocabSize) * 24) {
    std::mt19937 generator(1);
    std::normal_distribution<float> draw(-10.0F, 2.5F);
    for (float& logit : table_) logit = draw(generator);
    for (std::size_t row = 0; row < 24; ++row) {
      table_[row * static_cast<std::size_t>(kVocabSize)] = -30.0F;  // nothing ends early
    }
  }
  std::int64_t vocab_size() const override { return kVocabSize; }
  std::int64_t max_positions() const override { return 512; }
  void start(const SourceBatch& sources) override {
    rows_ = static_cast<std::int64_t>(sources.size());
    step_ = 0;
  }
  std::span<float> step(std::span<const std::int64_t>, std::int64_t length) override {
    const std::size_t size = static_cast<std::size_t>(rows_ * length * kVocabSize);
    const std::size_t rows = static_cast<std::size_t>(++step_ % 8);
    return std::span(table_).subspan(rows * static_cast<std::size_t>(kVocabSize), size);
  }
  void select(std::span<const std::int64_t> origins) override {
    rows_ = static_cast<std::int64_t>(origins.size());
  }
  std::int64_t rows() const override { return rows_; }

 private:
  std::vector<float> table_;
  std::int64_t rows_ = 0;
  std::int64_t step_ = 0;
};

GenerationConfig opus_config(std::int64_t num_beams) {
  GenerationConfig config;
  config.num_beams = num_beams;
  config.max_length = kSteps + 1;
  config.decoder_start_token_id = config.pad_token_id = kVocabSize - 1;
  config.eos_token_id = {0};
  config.bad_words_ids = {{kVocabSize - 1}};
  config.renormalize_logits = true;
  return config;
}

/// One sentence from start to its maximum length; reports the time of a step.
void run_search(benchmark::State& state, const GenerationConfig& config) {
  TableModel model;
  const SearchInput input = {{5, 6, 7, 0}, {}, {}};
  for (auto _ : state) benchmark::DoNotOptimize(search(model, std::span(&input, 1), config));
  state.counters["step"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kSteps),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void greedy(benchmark::State& state) { run_search(state, opus_config(1)); }
void beam_search(benchmark::State& state) { run_search(state, opus_config(state.range(0))); }
void beam_search_with_constraints(benchmark::State& state) {
  GenerationConfig config = opus_config(4);
  config.no_repeat_ngram_size = 3;
  config.repetition_penalty = 1.2;
  config.bad_words_ids = {{kVocabSize - 1}, {5, 6}, {7, 8, 9}};
  run_search(state, config);
}
void sampling(benchmark::State& state) {
  GenerationConfig config = opus_config(1);
  config.do_sample = true;
  config.top_k = state.range(0);
  config.top_p = 0.9;
  run_search(state, config);
}

/// The ten best of four rows, as beam search of four beams asks for them.
void top_k_of_four_rows(benchmark::State& state) {
  TableModel model;
  model.start(SourceBatch(4));
  const std::span<float> logits = model.step({}, 1);
  RowMaxima maxima;
  TopK top_k;
  for (auto _ : state) {
    for (std::size_t row = 0; row < 4; ++row) {
      const auto of_row = logits.subspan(row * static_cast<std::size_t>(kVocabSize),
                                         static_cast<std::size_t>(kVocabSize));
      benchmark::DoNotOptimize(maxima.scan(of_row));
      benchmark::DoNotOptimize(top_k.select(of_row, maxima, 9));
    }
  }
}

BENCHMARK(top_k_of_four_rows)->Unit(benchmark::kMicrosecond);
BENCHMARK(greedy)->Unit(benchmark::kMillisecond);
BENCHMARK(beam_search)->Arg(4)->Arg(8)->Unit(benchmark::kMillisecond);
BENCHMARK(beam_search_with_constraints)->Unit(benchmark::kMillisecond);
BENCHMARK(sampling)->Arg(50)->Arg(0)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sampan::decode

BENCHMARK_MAIN();
