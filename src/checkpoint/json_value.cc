#include "checkpoint/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/fail.h"

namespace sampan::checkpoint {
namespace {

// Builds values from nlohmann's events: its own tree would keep the last of two equal names
// silently and has no limits.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return put(static_cast<std::int64_t>(value));
    return put(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return stop("binary data"); }
  bool start_object(std::size_t /*elements*/) override { return open(JsonObject{}); }
  bool start_array(std::size_t /*elements*/) override { return open(JsonArray{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (!open_.back().names.insert(name).second)
      return stop(fmt::format("the name {} appears twice in one object",
                              describe(JsonValue(std::move(name)))));
    open_.back().name = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    const bool range = dynamic_cast<const nlohmann::detail::out_of_range*>(&error) != nullptr;
    return stop(range ? fmt::format("a number before byte {} is out of range", position)
                      : fmt::format("the text is not valid JSON at byte {}", position));
  }

  const std::string& problem() const { return problem_; }
  JsonValue take() { return std::move(root_); }

 private:
  struct Container {
    JsonValue value;
    std::string name;  // of the member being read
    std::unordered_set<std::string> names;
  };

  bool stop(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool open(JsonValue::Content content) {
    if (open_.size() >= limits_.depth)
      return stop(fmt::format("values are nested more than {} deep", limits_.depth));
    open_.push_back({JsonValue(std::move(content)), {}, {}});
    return true;
  }

  bool close() {
    JsonValue done = std::move(open_.back().value);
    open_.pop_back();
    return put_value(std::move(done));
  }

  bool put(JsonValue::Content content) { return put_value(JsonValue(std::move(content))); }

  bool put_value(JsonValue value) {
    if (++count_ > limits_.values)
      return stop(fmt::format("it holds more than {} values", limits_.values));
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (JsonArray* array = open_.back().value.as<JsonArray>()) {
      array->push_back(std::move(value));
    } else {
      open_.back().value.as<JsonObject>()->emplace_back(std::move(open_.back().name),
                                                        std::move(value));
    }
    return true;
  }

  const JsonLimits limits_;
  std::vector<Container> open_;
  JsonValue root_;
  std::size_t count_ = 0;
  std::string problem_;
};

nlohmann::json tree_of(const JsonValue& value) {
  if (const bool* boolean = value.as<bool>()) return *boolean;
  if (const std::int64_t* integer = value.as<std::int64_t>()) return *integer;
  if (const double* number = value.as<double>()) return *number;
  if (const std::string* text = value.as<std::string>()) return *text;
  if (const JsonArray* array = value.as<JsonArray>()) {
    nlohmann::json list = nlohmann::json::array();
    for (const JsonValue& item : *array) list.push_back(tree_of(item));
    return list;
  }
  if (const JsonObject* object = value.as<JsonObject>()) {
    nlohmann::json members = nlohmann::json::object();
    for (const auto& [name, member] : *object) members[name] = tree_of(member);
    return members;
  }
  return nullptr;
}

}  // namespace

const JsonValue* find_member(const JsonObject& object, std::string_view name) {
  const auto place = std::find_if(object.begin(), object.end(),
                                  [&](const auto& member) { return member.first == name; });
  return place == object.end() ? nullptr : &place->second;
}

std::string describe(const JsonValue& value) {
  constexpr std::size_t kLongest = 60;
  // Control and non-ASCII characters are escaped: a message stays one line whatever the file holds.
  std::string text = tree_of(value).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

JsonObject parse_json_object(std::string_view text, const std::filesystem::path& file,
                             const JsonLimits& limits) {
  TreeBuilder builder(limits);
  if (!nlohmann::json::sax_parse(text, &builder))
    base::fail(ErrorCode::kInvalidData, "{}: {}; download the file again", file.string(),
               builder.problem());
  JsonValue root = builder.take();
  JsonObject* object = root.as<JsonObject>();
  if (object == nullptr)
    base::fail(ErrorCode::kInvalidData,
               "{}: holds {} where a JSON object is expected; download "
               "the file again",
               file.string(), describe(root));
  return std::move(*object);
}

}  // namespace sampan::checkpoint
