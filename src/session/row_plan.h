#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sampan::session {

/// How to bring rows of a buffer into a new order in place, copying only rows that move.
struct RowPlan {
  /// Stands for a spare row outside the buffer.
  static constexpr std::int64_t kSpare = -1;
  struct Move {
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  std::int64_t rows = 0;              ///< rows afterwards
  std::vector<std::int64_t> origins;  ///< as given, for a copy to other memory
  std::vector<Move> moves;            ///< in this order; each row is read before it is overwritten
  bool needs_spare = false;           ///< some rows change places in a ring
};

/// The plan after which row i holds what row `origins[i]` held. Every origin lies in [0, old rows).
/// `moves` need a buffer with room for as many rows as there are afterwards.
RowPlan plan_rows(std::span<const std::int64_t> origins);

}  // namespace sampan::session
