#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sampan::checkpoint {

class JsonValue;

using JsonArray = std::vector<JsonValue>;
/// Members in the order of the text; their names are unique.
using JsonObject = std::vector<std::pair<std::string, JsonValue>>;

/// One JSON value. Integers beyond 64 bits signed are held as doubles, so that asking for an
/// integer refuses them.
class JsonValue {
 public:
  using Content =
      std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, JsonArray, JsonObject>;

  JsonValue() = default;
  explicit JsonValue(Content content) : content_(std::move(content)) {}

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(content_); }
  /// The content if it is of that type, or null: `value.as<std::int64_t>()`.
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&content_);
  }
  template <typename T>
  T* as() {
    return std::get_if<T>(&content_);
  }

 private:
  Content content_ = nullptr;
};

/// The member of that name, or null.
const JsonValue* find_member(const JsonObject& object, std::string_view name);

/// A short form for messages: `"silu"`, `12`, `[0, 2]`, cut after some 60 characters.
std::string describe(const JsonValue& value);

struct JsonLimits {
  std::size_t depth = 16;          ///< nested arrays and objects
  std::size_t values = 1'000'000;  ///< of any kind: bounds the memory to some 100 MB
};

/// Parses strict UTF-8 JSON whose outermost value is an object. Throws `Error` kInvalidData for
/// text that is not that (also a name used twice in an object, NaN, numbers out of range) and for
/// one beyond the limits. `file` is what messages name.
JsonObject parse_json_object(std::string_view text, const std::filesystem::path& file,
                             const JsonLimits& limits = {});

}  // namespace sampan::checkpoint
