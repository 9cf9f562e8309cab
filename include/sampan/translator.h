#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sampan/alignment.h"
#include "sampan/error.h"
#include "sampan/export.h"
#include "sampan/generation.h"

namespace sampan {

/// How a package is loaded. Defaults suit a shared server or a laptop.
struct SAMPAN_API LoadOptions {
  /// Threads of one operator; 0: as many as this process may really use (cgroup quota, processor
  /// affinity, physical cores). Take 1 where several translations run side by side.
  int threads = 0;
  /// Graph optimisation of ONNX Runtime, 0 (none) to 3 (all); lower it to look for a runtime's
  /// fault.
  int optimization_level = 3;
  /// Keep freed memory for the next sentence: faster, at the price of a higher resident set.
  bool cpu_memory_arena = true;
  /// Let idle threads spin for a moment: lower latency, but a busy processor between sentences.
  bool allow_spinning = false;
  /// ONNX Runtime execution providers in order of preference; the CPU is always tried last.
  std::vector<std::string> providers;
  /// An existing folder where ONNX Runtime leaves a trace of each graph (JSON, for Chrome's
  /// tracing) once the last copy of the translator is gone; slows every step. Empty: no traces.
  std::filesystem::path profile_folder;

  /// Every problem of these options, one sentence each; empty if they can be used.
  std::vector<std::string> validate() const;
};

/// How texts are translated. One struct a call; copy and change `Translator::default_options()`.
struct SAMPAN_API TranslateOptions {
  GenerationConfig generation;

  /// Code of the target language or script ("cmn_Hans") where the package has several; empty: none.
  std::string target_language;
  /// Target text that every translation starts with; empty: none.
  std::string target_prefix;
  /// Split a text into sentences, translate each, and join them; white space at both ends is kept.
  bool split_sentences = true;
  /// Cap each target at 2.5 x source + 16 tokens, so that a model that repeats itself ends soon.
  bool length_guard = true;
  /// Most sentences in one batch, 1 or more.
  std::size_t batch_size = 32;
  /// Most source tokens in one batch, padding included; a longer sentence has a batch of its own.
  std::size_t batch_tokens = 2048;

  /// Polled between decoding steps; a stop ends the call with `Error` kCancelled.
  std::stop_token stop;
  /// Passing it ends the call with `Error` kDeadlineExceeded.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// Called with each new target token, in order, by greedy search and sampling; may be empty.
  /// `text` is the index of the source text, `piece` is spelled as in the vocabulary, end of
  /// sentence included. Sentences run one by one then, which costs throughput.
  std::function<void(std::size_t text, std::string_view piece)> on_token;

  /// Every problem of these options, one sentence each; empty if they can be used.
  std::vector<std::string> validate() const;
};

/// One candidate translation of a text.
struct Translation {
  std::string text;
  /// Target ids of all sentences, each with its end of sentence; empty where the text bypassed the
  /// model (white space, digits, punctuation, emoji alone).
  std::vector<std::int64_t> tokens;
  /// Mean, over the sentences, of the search's score; 0 where the text bypassed the model.
  double score = 0.0;
  /// Where each sentence lies in source and target, in order.
  std::vector<SentenceAlignment> sentences;
  /// A sentence ran into its maximum length.
  bool truncated = false;
  /// A sentence repeats a unit of tokens four times or more in a row, and its source does not.
  bool repeats = false;
};

/// A loaded package. Immutable and thread-safe: any number of threads may translate with one object
/// at once. Copies share the loaded model.
class SAMPAN_API Translator {
 public:
  /// Loads a package folder: sampan's, or one that optimum wrote. Throws `Error`: kNotFound,
  /// kInvalidData, kUnsupported, kIncompatible, kInvalidArgument.
  static Translator load(const std::filesystem::path& package, const LoadOptions& options = {});

  /// The package's own generation defaults.
  TranslateOptions default_options() const;

  /// Translates texts; result i belongs to text i. Invalid UTF-8 is replaced by U+FFFD. With
  /// `num_return_sequences` above 1 the best translation is returned; see `translate_n_best`.
  /// Throws `Error`: kInvalidArgument, kCancelled, kDeadlineExceeded, kResourceExhausted.
  std::vector<Translation> translate(std::span<const std::string> texts,
                                     const TranslateOptions& options) const;
  /// One text with the package's defaults.
  Translation translate(std::string_view text) const;

  /// The `num_return_sequences` best translations of each text, best first; fewer where the search
  /// found fewer, one where the text bypassed the model. Texts are not split into sentences.
  std::vector<std::vector<Translation>> translate_n_best(std::span<const std::string> texts,
                                                         const TranslateOptions& options) const;

  /// log-probability (natural logarithm) of each token of given translations, end of sentence
  /// included; result i belongs to sources[i] and targets[i]. Throws as `translate`.
  struct TargetScore {
    std::vector<std::int64_t> tokens;
    std::vector<float> log_probs;
  };
  std::vector<TargetScore> score(std::span<const std::string> sources,
                                 std::span<const std::string> targets,
                                 const TranslateOptions& options) const;

  /// Codes that `target_language` accepts, sorted; empty where the package has one target.
  std::vector<std::string> target_languages() const;

 private:
  class Impl;
  explicit Translator(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace sampan
