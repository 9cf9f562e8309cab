#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::verify {

enum class Outcome { kPassed, kFailed, kNotChecked };

/// One thing that was looked at. docs/verify.md tells every check, its figure and its limit.
struct Check {
  std::string name;  ///< "encoder.states", "merged.first_logits"
  Outcome outcome = Outcome::kNotChecked;
  /// What was found, in the unit of `limit`; nothing where a check has no number. The check fails
  /// above the limit.
  std::optional<double> figure;
  std::optional<double> limit;
  std::string detail;  ///< where the figure was found, or what is wrong; one line
};

/// How far one inner value of a graph is from the reference's, which was given the graph's own
/// values before it: the loss of this place alone.
struct InnerValue {
  std::string graph;  ///< "encoder", "decoder", "decoder_with_past", "merged.no_past", ...
  /// After the checkpoint's modules: "encoder.layers.0.self_attn.q_proj".
  std::string name;
  double difference = 0.0;      ///< largest, relative to the reference's largest magnitude (to 1)
  double relative_error = 0.0;  ///< sqrt(sum of squared differences / sum of squared values)
};

/// An operator at which a graph leaves the reference.
struct Place {
  std::string graph;  ///< as in `InnerValue`
  std::string name;   ///< likewise
  std::string part;   ///< what of it is wrong: "weight", "bias", "scale", "mask", "residual", ...
  std::string node;   ///< the graph's node that made the value; empty where it is an input
  double figure = 0.0;
  double limit = 0.0;
  std::string detail;  ///< case, row, position and both values; one line
};

/// A line that is not translated as it was recorded.
struct LineDifference {
  std::size_t line = 0;  ///< of the recording, from 1, empty lines not counted
  std::string source;
  std::string found;  ///< the package's translation
  std::string recorded;
  std::size_t token = 0;    ///< place of the first differing token, from 1; 0: no tokens recorded
  std::string found_token;  ///< id and piece there, or "nothing" behind the end
  std::string recorded_token;  ///< likewise
  bool equal_scores = false;   ///< the two are equally good, which is no fault
};

/// Milliseconds.
struct TimeSpread {
  double p50 = 0.0, p90 = 0.0, p99 = 0.0;
};

/// How long translating one text takes.
struct Latency {
  std::string text;
  std::size_t runs = 0;
  int threads = 0;
  TimeSpread wall;                   ///< time that passed
  TimeSpread process_cpu;            ///< processor time of all threads
  TimeSpread thread_cpu;             ///< processor time of the calling thread alone
  double cpu_per_wall = 0.0;         ///< of all runs: about the number of busy threads
  double thread_cpu_per_wall = 0.0;  ///< likewise, of the calling thread: what is missing it waited
  double drift = 0.0;                ///< middle of the last quarter relative to the first's, less 1
  std::optional<bool> throttled;     ///< nothing: the system does not tell
  std::string conditions;            ///< what was seen of throttling, and what cannot be known
  std::vector<double> wall_ms, cpu_ms;  ///< of each run, in order
};

/// What a whole verification found.
struct Report {
  std::string manifest_sha256;           ///< of sampan.json; empty where the package has none
  std::vector<Check> checks;             ///< in the order of the work
  std::vector<Place> places;             ///< first to last in each graph that failed
  std::vector<InnerValue> inner_values;  ///< in the order of computing, graph by graph
  std::vector<LineDifference> line_differences;  ///< from the baseline, in its order
  std::optional<Latency> latency;
  std::size_t lines = 0;  ///< of text that were translated both ways
  double seconds = 0.0;   ///< wall time of it all

  /// kFailed if any check failed; else kNotChecked if any could not be made; else kPassed.
  Outcome verdict() const;
};

/// A check with a figure, which must be a number and not above the limit.
Check limited(std::string name, double figure, double limit, std::string detail);
Check failed(std::string name, std::string detail);
Check passed(std::string name, std::string detail);
Check not_checked(std::string name, std::string detail);

/// "passed", "problems", "not_checked".
std::string_view verdict_name(Outcome verdict) noexcept;

/// One sentence: "problems: 2 of 17 checks failed".
std::string verdict_sentence(const Report& report);
/// "yes", "none seen", "cannot be known".
std::string_view throttling_word(const std::optional<bool>& throttled) noexcept;

/// Several lines for people, the last one the verdict, without a line break at the end.
std::string format_text(const Report& report);
/// The report as JSON, indented, ending in a line break: also the content of verification.json.
std::string format_json(const Report& report);

}  // namespace sampan::verify
