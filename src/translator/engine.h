#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sampan/translator.h"
#include "text/tokenizer.h"
#include "translator/step_model_pool.h"

namespace sampan::translator {

/// What a translator is put together from; a loaded package gives them, tests give others.
struct EngineParts {
  std::unique_ptr<const text::Tokenizer> tokenizer;
  StepModelPool::Factory new_step_model;  ///< called by several threads at once
  std::int64_t max_positions = 0;         ///< of a source sentence and of a target
  GenerationConfig defaults;
};

/// Does the work of `Translator`, whose contract holds here too. Thread-safe.
class Engine {
 public:
  explicit Engine(EngineParts parts);

  TranslateOptions default_options() const;
  std::vector<Translation> translate(std::span<const std::string> texts,
                                     const TranslateOptions& options) const;
  std::vector<std::vector<Translation>> translate_n_best(std::span<const std::string> texts,
                                                         const TranslateOptions& options) const;
  std::vector<Translator::TargetScore> score(std::span<const std::string> sources,
                                             std::span<const std::string> targets,
                                             const TranslateOptions& options) const;
  std::vector<std::string> target_languages() const;

 private:
  std::vector<std::vector<Translation>> run(std::span<const std::string> texts,
                                            TranslateOptions options) const;
  void validate(const TranslateOptions& options) const;

  EngineParts parts_;
  mutable StepModelPool pool_;
};

}  // namespace sampan::translator
