#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reference/marian.h"
#include "session/graph_runner.h"

namespace sampan::verify {

/// The largest difference of a kind that was seen, and where.
struct Worst {
  double difference = 0.0;
  std::string where;            ///< empty: nothing differed at all
  std::int64_t values = 0;      ///< compared
  std::int64_t not_finite = 0;  ///< NaN or infinity among the graph's
};

/// Which part of an output belongs to a reference value.
struct RowPlace {
  std::size_t row = 0;         ///< of the batch
  std::int64_t length = 0;     ///< positions that the output must have, padding included
  std::string_view case_name;  ///< for `Worst::where`
};

/// Compares [batch, length, width] at a batch row with [positions, width], its first positions.
/// Absolute differences. An output of another shape differs infinitely. Throws `Error` kInvalidData
/// for one that holds no floats.
void compare_states(const session::NamedTensor& output, const reference::Matrix& expected,
                    const RowPlace& place, Worst& worst);
/// The same for keys or values [batch, head, length, head_dim] and [positions, head * head_dim].
void compare_cache(const session::NamedTensor& output, const reference::Matrix& expected,
                   const RowPlace& place, Worst& worst);
/// The same for logits [batch, length, vocabulary], relative as `Limits::logits` says.
void compare_logits(const session::NamedTensor& output, const reference::Matrix& expected,
                    const RowPlace& place, Worst& worst);

}  // namespace sampan::verify
