#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sampan/generation.h"

namespace sampan::translator {

/// The member of GenerationConfig that a field stands for.
using GenerationMember =
    std::variant<std::int64_t GenerationConfig::*, std::uint64_t GenerationConfig::*,
                 double GenerationConfig::*, bool GenerationConfig::*,
                 std::optional<std::int64_t> GenerationConfig::*, EarlyStopping GenerationConfig::*,
                 std::vector<std::int64_t> GenerationConfig::*,
                 std::vector<std::vector<std::int64_t>> GenerationConfig::*>;

/// One field of GenerationConfig, described once for every place that reads, writes or explains it.
struct GenerationField {
  std::string_view name;         ///< as in generation_config.json: "num_beams"
  std::string_view value;        ///< what a value looks like, for help: "N"
  std::string_view description;  ///< one line, lower case, no full stop
  GenerationMember member;
  /// Part of the model rather than a wish of its user: read from the package, not offered.
  bool of_model = false;
};

/// All fields, in the order of the struct.
std::span<const GenerationField> generation_fields();

/// Sets a field from its JSON value: `4`, `0.6`, `true`, `"never"`, `[[65000]]`; a bare word where
/// a string is meant, a list without its outer brackets and one number for a list are understood
/// too. Throws `Error` kInvalidArgument that names the field and the value.
void set_generation_field(GenerationConfig& config, const GenerationField& field,
                          std::string_view value);

/// A field's value as JSON, "null" for an optional that is not set; `set_generation_field` reads
/// it.
std::string generation_field_value(const GenerationConfig& config, const GenerationField& field);

}  // namespace sampan::translator
