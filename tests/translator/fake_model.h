#pragma once

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "decode/step_model.h"
#include "text/tokenizer.h"
#include "translator/engine.h"

namespace sampan::translator {

// A toy language pair: one token a byte, and the translation of a text is the text in capitals.
inline constexpr std::int64_t kEos = 0;
inline constexpr std::int64_t kStart = 1;
inline constexpr std::int64_t kFirstByte = 2;
inline constexpr std::int64_t kFirstLanguage = kFirstByte + 256;
inline constexpr std::int64_t kVocabulary = kFirstLanguage + 2;

inline std::int64_t token_of(char byte) {
  return kFirstByte + static_cast<std::int64_t>(static_cast<unsigned char>(byte));
}

// What a test may ask of the model, and what it may look at afterwards; shared by all step models.
struct FakeModelState {
  std::int64_t max_positions = 64;
  // Called before each step; may throw, sleep or count.
  std::function<void()> before_step;
  std::atomic<int> models_made = 0;
  std::atomic<std::size_t> widest_batch = 0;
  std::atomic<std::size_t> longest_tokenized = 0;
  // Source token whose target never ends: the model repeats "AB" for ever.
  std::int64_t endless = token_of('@');
};

class FakeTokenizer : public text::Tokenizer {
 public:
  // With `forces_language` the family is one whose first target token names the language.
  FakeTokenizer(FakeModelState& state, std::vector<std::string> languages, bool forces_language)
      : state_(state), languages_(std::move(languages)), forces_language_(forces_language) {}

  std::vector<std::int64_t> encode(std::string_view text,
                                   std::string_view language) const override {
    std::vector<std::int64_t> ids = encode_target(text);
    if (!language.empty() && !forces_language_) ids.insert(ids.begin(), language_token(language));
    ids.push_back(kEos);
    return ids;
  }
  std::vector<std::int64_t> encode_target(std::string_view text) const override {
    std::size_t longest = state_.longest_tokenized;
    while (longest < text.size() &&
           !state_.longest_tokenized.compare_exchange_weak(longest, text.size())) {
    }
    std::vector<std::int64_t> ids;
    for (const char byte : text) ids.push_back(token_of(byte));
    return ids;
  }
  std::string decode(std::span<const std::int64_t> ids) const override {
    std::string text;
    for (const std::int64_t id : ids)
      if (id >= kFirstByte && id < kFirstLanguage) text += static_cast<char>(id - kFirstByte);
    return text;
  }
  std::vector<std::string> target_pieces(std::span<const std::int64_t> ids) const override {
    std::vector<std::string> pieces;
    for (const std::int64_t id : ids) pieces.push_back(id == kEos ? "</s>" : decode({&id, 1}));
    return pieces;
  }
  std::vector<std::string> source_pieces(std::span<const std::int64_t> ids) const override {
    return target_pieces(ids);
  }
  std::vector<std::string> target_languages() const override { return languages_; }
  std::optional<std::int64_t> forced_bos_token_id(std::string_view language) const override {
    if (!forces_language_ || language.empty()) return std::nullopt;
    return language_token(language);
  }
  std::optional<text::LanguageTag> language_tag(std::string_view text) const override {
    for (const std::string& code : languages_)
      if (text.starts_with(">>" + code + "<<"))
        return text::LanguageTag{text.substr(2, code.size()), code.size() + 4};
    return std::nullopt;
  }
  std::string_view source_language() const override { return "eng"; }
  std::string_view target_language() const override { return "fra"; }

 private:
  std::int64_t language_token(std::string_view code) const {
    return kFirstLanguage + (std::ranges::find(languages_, code) - languages_.begin());
  }
  FakeModelState& state_;
  std::vector<std::string> languages_;
  bool forces_language_;
};

class FakeStepModel : public decode::StepModel {
 public:
  explicit FakeStepModel(FakeModelState& state) : state_(state) { ++state.models_made; }

  std::int64_t vocab_size() const override { return kVocabulary; }
  std::int64_t max_positions() const override { return state_.max_positions; }

  void start(const decode::SourceBatch& sources) override {
    sources_ = sources;
    rows_.clear();
    for (std::size_t i = 0; i < sources.size(); ++i) rows_.push_back(i);
    past_ = 0;
    std::size_t widest = state_.widest_batch;
    while (widest < sources.size() &&
           !state_.widest_batch.compare_exchange_weak(widest, sources.size())) {
    }
  }

  std::span<float> step(std::span<const std::int64_t> tokens, std::int64_t length) override {
    if (state_.before_step) state_.before_step();
    if (tokens.size() != rows_.size() * static_cast<std::size_t>(length))
      throw std::logic_error("tokens are not [rows, length]");
    logits_.assign(tokens.size() * kVocabulary, -10.0F);
    for (std::size_t row = 0; row < rows_.size(); ++row)
      for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
        const std::size_t at = (row * static_cast<std::size_t>(length) + i) * kVocabulary;
        const std::int64_t best = next_token(sources_[rows_[row]], past_ + i);
        logits_[at + static_cast<std::size_t>(best)] = 10.0F;
      }
    past_ += static_cast<std::size_t>(length);
    return logits_;
  }

  void select(std::span<const std::int64_t> origins) override {
    std::vector<std::size_t> rows;
    for (const std::int64_t origin : origins)
      rows.push_back(rows_.at(static_cast<std::size_t>(origin)));
    rows_ = std::move(rows);
  }
  std::int64_t rows() const override { return static_cast<std::int64_t>(rows_.size()); }

 private:
  std::int64_t next_token(const std::vector<std::int64_t>& source, std::size_t position) const {
    if (std::ranges::count(source, state_.endless) != 0)
      return token_of(position % 2 == 0 ? 'A' : 'B');
    const std::size_t skip = source.front() >= kFirstLanguage ? 1 : 0;
    const std::size_t at = std::min(position + skip, source.size() - 1);
    if (source[at] == kEos) return kEos;
    return token_of(static_cast<char>(std::toupper(static_cast<int>(source[at] - kFirstByte))));
  }

  FakeModelState& state_;
  decode::SourceBatch sources_;
  std::vector<std::size_t> rows_;
  std::size_t past_ = 0;
  std::vector<float> logits_;
};

inline Engine make_engine(FakeModelState& state, std::vector<std::string> languages = {},
                          bool forces_language = false) {
  EngineParts parts;
  parts.tokenizer = std::make_unique<FakeTokenizer>(state, std::move(languages), forces_language);
  parts.new_step_model = [&state] { return std::make_unique<FakeStepModel>(state); };
  parts.max_positions = state.max_positions;
  parts.defaults.decoder_start_token_id = kStart;
  parts.defaults.pad_token_id = kStart;
  parts.defaults.eos_token_id = {kEos};
  return Engine(std::move(parts));
}

}  // namespace sampan::translator
