#pragma once

#include <memory>
#include <span>
#include <vector>

#include "decode/sentence_search.h"

namespace sampan::decode {

/// The rows of a model under the searches of a batch: feeds prompts (of any lengths) and then token
/// by token, hands each sentence its logits, and moves rows so that as many as possible stay where
/// they are; a sentence that is done leaves the batch. Checks that the model keeps its contract.
class SearchDriver {
 public:
  SearchDriver(StepModel& model, const SearchControl& control) : model_(model), control_(control) {}

  /// Runs `searches`, of which [i] belongs to sources[i] and prompts[i], to their ends. Throws
  /// `Error`: what a search or the model throws, kCancelled, kDeadlineExceeded, kInternal (the
  /// model does not do as it says).
  void run(const SourceBatch& sources, std::span<const Prompt> prompts,
           std::span<const std::unique_ptr<SentenceSearch>> searches);

 private:
  struct Sentence {
    const Prompt* prompt;
    SentenceSearch* search;
    std::vector<std::size_t> rows;  ///< the model's row of each row the sentence named
    std::vector<NextRow> next;
  };

  std::span<float> feed(std::size_t length);
  void advance(Sentence& sentence, std::span<float> logits, std::size_t length);
  void keep_rows();
  void place(Sentence& sentence);
  void require_rows(std::size_t expected) const;

  StepModel& model_;
  const SearchControl& control_;
  std::vector<Sentence> sentences_;
  std::size_t fed_ = 0;  ///< tokens behind every row
  std::vector<std::int64_t> tokens_;
  std::vector<std::int64_t> origins_;
};

}  // namespace sampan::decode
