#include "translator/generation_fields.h"

#include <array>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/fail.h"

namespace sampan::translator {
namespace {

using Json = nlohmann::json;
using Config = GenerationConfig;

const std::array kFields = {
    GenerationField{"num_beams", "N", "beams kept for each sentence; 1 is greedy search",
                    &Config::num_beams},
    GenerationField{"num_return_sequences", "N", "translations listed for each line, best first",
                    &Config::num_return_sequences},
    GenerationField{"length_penalty", "X",
                    "exponent of the length in a beam's score; above 0 favours long translations",
                    &Config::length_penalty},
    GenerationField{"early_stopping", "true|false|never", "when beam search may stop",
                    &Config::early_stopping},
    GenerationField{"max_length", "N",
                    "most tokens of a translation, decoder start and prefix included; turns the "
                    "length guard off",
                    &Config::max_length},
    GenerationField{"max_new_tokens", "N",
                    "most generated tokens; overrides the maximum length and turns the length "
                    "guard off",
                    &Config::max_new_tokens},
    GenerationField{"min_length", "N", "fewest tokens before a translation may end, start included",
                    &Config::min_length},
    GenerationField{"min_new_tokens", "N", "fewest generated tokens before a translation may end",
                    &Config::min_new_tokens},
    GenerationField{"do_sample", "", "draw each token from its distribution", &Config::do_sample},
    GenerationField{"temperature", "X", "divides the logits before sampling", &Config::temperature},
    GenerationField{"top_k", "N", "sample among the N most probable tokens; 0: all",
                    &Config::top_k},
    GenerationField{"top_p", "X", "sample among the fewest tokens whose probability reaches X",
                    &Config::top_p},
    GenerationField{"seed", "N", "seed of the sampler", &Config::seed},
    GenerationField{"no_repeat_ngram_size", "N", "no sequence of N tokens appears twice; 0: off",
                    &Config::no_repeat_ngram_size},
    GenerationField{"repetition_penalty", "X", "weakens tokens that appeared already; 1: off",
                    &Config::repetition_penalty},
    GenerationField{"bad_words_ids", "IDS", "token sequences that never appear: [[7],[8,9]]",
                    &Config::bad_words_ids},
    GenerationField{"suppress_tokens", "IDS", "tokens that never appear: 7,8,9",
                    &Config::suppress_tokens},
    GenerationField{"forced_bos_token_id", "ID", "the first generated token",
                    &Config::forced_bos_token_id},
    GenerationField{"forced_eos_token_id", "IDS", "the last token at the maximum length",
                    &Config::forced_eos_token_id},
    GenerationField{"renormalize_logits", "", "normalise again after the constraints",
                    &Config::renormalize_logits},
    GenerationField{"decoder_start_token_id", "ID", "the token before the first",
                    &Config::decoder_start_token_id, true},
    GenerationField{"pad_token_id", "ID", "the token that fills", &Config::pad_token_id, true},
    GenerationField{"eos_token_id", "IDS", "tokens that end a translation", &Config::eos_token_id,
                    true},
};

[[noreturn]] void refuse(const GenerationField& field, std::string_view value,
                         std::string_view expected) {
  base::fail(ErrorCode::kInvalidArgument, "{}: '{}' is not {}", field.name, value, expected);
}

// Lists may come without their brackets, words without their quotes: as a person types them.
Json parse_value(const GenerationField& field, std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_discarded()) return value;
  value = Json::parse("[" + std::string(text) + "]", nullptr, false);
  if (!value.is_discarded()) return value;
  if (std::holds_alternative<EarlyStopping Config::*>(field.member)) return Json(std::string(text));
  return {};
}

// A value of one member type; the readers below are found by overload.
class Reader {
 public:
  Reader(const GenerationField& field, std::string_view text)
      : field_(field), text_(text), value_(parse_value(field, text)) {}

  void read(std::int64_t& out) const { out = integer(value_, "an integer"); }
  void read(std::uint64_t& out) const {
    if (!value_.is_number_unsigned()) refuse(field_, text_, "an integer of 0 or more");
    out = value_.get<std::uint64_t>();
  }
  void read(double& out) const {
    if (!value_.is_number()) refuse(field_, text_, "a number");
    out = value_.get<double>();
  }
  void read(bool& out) const {
    if (!value_.is_boolean()) refuse(field_, text_, "true or false");
    out = value_.get<bool>();
  }
  void read(std::optional<std::int64_t>& out) const {
    if (value_.is_null() && text_ == "null")
      out.reset();
    else
      out = integer(value_, "an integer");
  }
  void read(EarlyStopping& out) const {
    if (value_.is_boolean())
      out = value_.get<bool>() ? EarlyStopping::kTrue : EarlyStopping::kFalse;
    else if (value_ == "never")
      out = EarlyStopping::kNever;
    else
      refuse(field_, text_, "true, false or never");
  }
  void read(std::vector<std::int64_t>& out) const {
    out = integers(value_.is_number() ? Json::array({value_}) : value_, "a list of token ids");
  }
  void read(std::vector<std::vector<std::int64_t>>& out) const {
    constexpr std::string_view kExpected = "a list of lists of token ids";
    if (!value_.is_array()) refuse(field_, text_, kExpected);
    std::vector<std::vector<std::int64_t>> lists;
    // `[7,8],[9]` without its outer brackets was completed; `[7,8]` alone is one sequence.
    const bool one_list = !value_.empty() && value_.front().is_number();
    if (one_list)
      lists.push_back(integers(value_, kExpected));
    else
      for (const Json& list : value_) lists.push_back(integers(list, kExpected));
    out = std::move(lists);
  }

 private:
  std::int64_t integer(const Json& value, std::string_view expected) const {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
    if (!fits) refuse(field_, text_, expected);
    return value.get<std::int64_t>();
  }
  std::vector<std::int64_t> integers(const Json& list, std::string_view expected) const {
    if (!list.is_array()) refuse(field_, text_, expected);
    std::vector<std::int64_t> values;
    for (const Json& value : list) values.push_back(integer(value, expected));
    return values;
  }

  const GenerationField& field_;
  std::string_view text_;
  Json value_;
};

Json to_json(EarlyStopping value) {
  if (value == EarlyStopping::kNever) return "never";
  return value == EarlyStopping::kTrue;
}
Json to_json(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }
template <typename T>
Json to_json(const T& value) {
  return value;
}

}  // namespace

std::span<const GenerationField> generation_fields() { return kFields; }

void set_generation_field(GenerationConfig& config, const GenerationField& field,
                          std::string_view value) {
  const Reader reader(field, value);
  std::visit([&](const auto member) { reader.read(config.*member); }, field.member);
}

std::string generation_field_value(const GenerationConfig& config, const GenerationField& field) {
  return std::visit([&](const auto member) { return to_json(config.*member).dump(); },
                    field.member);
}

}  // namespace sampan::translator
