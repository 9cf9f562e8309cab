#include "session/row_plan.h"

#include <algorithm>

namespace sampan::session {

RowPlan plan_rows(std::span<const std::int64_t> origins) {
  RowPlan plan;
  plan.rows = static_cast<std::int64_t>(origins.size());
  plan.origins.assign(origins.begin(), origins.end());
  std::int64_t extent = plan.rows;
  for (const std::int64_t origin : origins) extent = std::max(extent, origin + 1);

  // readers[r]: moves still to come that read row r. A row may be overwritten once nobody reads it.
  std::vector<std::int64_t> readers(static_cast<std::size_t>(extent), 0);
  auto moves_to = [&](std::int64_t row) {
    return row < plan.rows && origins[static_cast<std::size_t>(row)] != row;
  };
  for (std::int64_t row = 0; row < plan.rows; ++row)
    if (moves_to(row)) ++readers[static_cast<std::size_t>(origins[static_cast<std::size_t>(row)])];

  std::vector<bool> done(origins.size(), false);
  std::vector<std::int64_t> ready;
  auto drain = [&] {
    while (!ready.empty()) {
      const std::int64_t to = ready.back();
      ready.pop_back();
      const std::int64_t from = origins[static_cast<std::size_t>(to)];
      plan.moves.push_back({from, to});
      done[static_cast<std::size_t>(to)] = true;
      if (--readers[static_cast<std::size_t>(from)] == 0 && moves_to(from)) ready.push_back(from);
    }
  };
  for (std::int64_t row = 0; row < plan.rows; ++row)
    if (moves_to(row) && readers[static_cast<std::size_t>(row)] == 0) ready.push_back(row);
  drain();

  // What is left are rings: every row of one is read exactly once, by the next.
  for (std::int64_t start = 0; start < plan.rows; ++start) {
    if (!moves_to(start) || done[static_cast<std::size_t>(start)]) continue;
    plan.needs_spare = true;
    plan.moves.push_back({start, RowPlan::kSpare});
    std::int64_t to = start;
    while (origins[static_cast<std::size_t>(to)] != start) {
      const std::int64_t from = origins[static_cast<std::size_t>(to)];
      plan.moves.push_back({from, to});
      done[static_cast<std::size_t>(to)] = true;
      to = from;
    }
    plan.moves.push_back({RowPlan::kSpare, to});
    done[static_cast<std::size_t>(to)] = true;
  }
  return plan;
}

}  // namespace sampan::session
