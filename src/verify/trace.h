#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reference/marian.h"
#include "session/graph_runner.h"
#include "verify/probe.h"
#include "verify/report.h"

namespace sampan::verify {

/// Holds the inner values of one graph against the reference, operator by operator: the reference
/// computes on with the graph's own value, so that each difference is made where it is found and an
/// error is not blamed on what follows it. Not thread-safe.
class Trace {
 public:
  using Values = std::map<std::string, session::NamedTensor, std::less<>>;
  using Probes = std::map<std::string, Probe, std::less<>>;

  /// `graph` is the name in the report; `probes` must outlive this object;
  /// `limit` is as `Limits::inner_values`.
  Trace(std::string graph, const Probes& probes, double limit)
      : graph_(std::move(graph)), probes_(probes), limit_(limit) {}

  /// One row of a batch that was run.
  struct Run {
    const Values& values;
    std::string_view case_name;
    std::int64_t row = 0;
    std::int64_t rows = 1;   ///< of the batch
    std::int64_t heads = 1;  ///< of this stack
  };
  /// Called by the reference with each of its values; `run` must outlive the observer.
  reference::Observer observer(const Run& run);

  /// In the order of computing. Places are those beyond the limit.
  std::vector<Place> places() const;
  std::vector<InnerValue> inner_values() const;

 private:
  struct Seen {
    std::size_t order = 0;
    double worst = 0.0;
    double error = 0.0;   // sum of squares
    double square = 0.0;  // of the reference's values
    std::string part, detail;
  };

  void compare(const Run& run, std::string_view name, reference::Matrix& value);
  void note(std::string_view name, double figure, std::string part, std::string detail);
  std::string part_of(std::string_view name, const reference::Matrix& actual,
                      const reference::Matrix& expected) const;
  bool equals_last(std::string_view name, const reference::Matrix& actual) const;

  std::string graph_;
  const Probes& probes_;
  double limit_;
  std::map<std::string, Seen, std::less<>> seen_;
  // Of this row, by name: what is known after each step.
  std::map<std::string, reference::Matrix, std::less<>> last_;
  bool broken_ = false;  // a value has another shape: nothing behind it can be compared
};

}  // namespace sampan::verify
