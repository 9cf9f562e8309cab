#include "evaluate/runtime_profile.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "base/fail.h"
#include "base/mapped_file.h"

namespace sampan::evaluate {
namespace {

using Json = nlohmann::json;

// What ONNX Runtime records at most in one trace.
constexpr std::size_t kMostEvents = 1'000'000;
constexpr std::string_view kNodeSuffix = "_kernel_time";
constexpr std::int64_t kMostMicroseconds = std::int64_t{1} << 40;

struct Event {
  std::string category;
  std::string name;
  std::string op;
  std::int64_t thread = 0;
  std::int64_t start = 0;     // microseconds
  std::int64_t duration = 0;  // microseconds
  std::int64_t inner = 0;     // microseconds of the events right inside

  std::int64_t end() const { return start + duration; }
};

// Keeps the few fields that are wanted, as a trace may be far larger than what they say.
class TraceReader : public nlohmann::json_sax<Json> {
 public:
  std::vector<Event> events;

  bool start_object(std::size_t) override {
    if (++depth_ == kEvent) events.emplace_back();
    return depth_ > 1;  // the whole must be an array
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& name) override {
    key_ = name;
    return true;
  }
  bool string(string_t& value) override {
    if (events.empty()) return true;
    if (depth_ == kEvent && key_ == "cat") events.back().category = value;
    if (depth_ == kEvent && key_ == "name") events.back().name = value;
    if (depth_ == kArguments && key_ == "op_name") events.back().op = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    if (events.empty() || depth_ != kEvent) return true;
    if (value < 0 || value > kMostMicroseconds) return false;
    if (key_ == "tid") events.back().thread = value;
    if (key_ == "ts") events.back().start = value;
    if (key_ == "dur") events.back().duration = value;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMost = static_cast<number_unsigned_t>(kMostMicroseconds);
    return number_integer(static_cast<number_integer_t>(std::min(value, kMost + 1)));
  }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  static constexpr int kEvent = 2;
  static constexpr int kArguments = 3;
  int depth_ = 0;
  std::string key_;
};

// An event's time is its own less that of the events right inside it, on the same thread.
void find_inner_times(std::vector<Event>& events) {
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return std::tuple(a.thread, a.start, -a.duration) < std::tuple(b.thread, b.start, -b.duration);
  });
  std::vector<Event*> open;
  for (Event& event : events) {
    while (!open.empty() &&
           (open.back()->thread != event.thread || open.back()->end() < event.end()))
      open.pop_back();
    if (!open.empty()) open.back()->inner += event.duration;
    open.push_back(&event);
  }
}

void add(TimeShare& share, const Event& event) {
  ++share.calls;
  // Events are recorded in whole microseconds, so those inside may add up to more.
  share.seconds +=
      static_cast<double>(std::max<std::int64_t>(event.duration - event.inner, 0)) / 1e6;
}

}  // namespace

void add_trace(std::string_view trace, const std::string& graph, RuntimeProfile& profile) {
  TraceReader reader;
  if (!Json::sax_parse(trace, &reader))
    base::fail(ErrorCode::kInvalidData,
               "{}: the runtime's profile is not a whole trace; free disk space and profile again",
               graph);
  profile.cut_short = profile.cut_short || reader.events.size() >= kMostEvents;
  std::vector<Event> nodes;
  for (Event& event : reader.events) {
    if (event.category == "Session" && event.name == "model_run")
      profile.run_seconds += static_cast<double>(event.duration) / 1e6;
    if (event.category == "Node" && event.name.ends_with(kNodeSuffix))
      nodes.push_back(std::move(event));
  }
  find_inner_times(nodes);
  for (Event& event : nodes) {
    event.name.resize(event.name.size() - kNodeSuffix.size());
    add(profile.operators[event.op], event);
    add(profile.nodes[{graph, event.name}], event);
  }
}

RuntimeProfile read_profile(const std::filesystem::path& folder) {
  RuntimeProfile profile;
  bool any = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const base::MappedFile file(entry.path());
    add_trace({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
              name.substr(0, name.find('.')), profile);
    any = true;
  }
  if (!any)
    base::fail(ErrorCode::kNotFound, "{}: the runtime left no profile; use another runtime",
               folder.string());
  return profile;
}

}  // namespace sampan::evaluate
