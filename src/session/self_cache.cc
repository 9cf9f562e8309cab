#include "session/self_cache.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/fail.h"
#include "session/row_plan.h"
#include "session/step_checks.h"

namespace sampan::session {
namespace {

constexpr std::int64_t kFirstCapacity = 32;

}  // namespace

void SelfCache::reset(std::size_t rows) {
  cells_.assign(rows, {});
  if (rows > row_capacity_) {
    row_capacity_ = 0;
    capacity_ = 0;
    data_.reset();
  }
  ++version_;
}

std::int64_t SelfCache::longest() const {
  std::size_t longest = 0;
  for (const Cells& cells : cells_) longest = std::max(longest, cells.size());
  return static_cast<std::int64_t>(longest);
}

void SelfCache::reserve(std::int64_t more) {
  const std::int64_t needed = longest() + more;
  if (needed <= capacity_ && rows() <= row_capacity_) return;
  std::int64_t capacity = std::max(capacity_, kFirstCapacity);
  while (capacity < needed) capacity += capacity / 2;
  grow(std::max(rows(), row_capacity_), capacity);
}

void SelfCache::append(std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    for (Cells& cells : cells_) cells.push_back(next_cell_++);
}

void SelfCache::select(std::span<const std::int64_t> origins) {
  const RowPlan plan = plan_rows(origins);
  const auto wanted = static_cast<std::size_t>(plan.rows);
  if (plan.moves.empty() && wanted == rows()) return;
  if (capacity_ > 0 && wanted > row_capacity_) grow(wanted, capacity_);
  if (wanted != rows()) ++version_;
  if (wanted > rows()) cells_.resize(wanted);
  const std::size_t spare = row_capacity_;
  const auto place = [spare](std::int64_t row) {
    return row == RowPlan::kSpare ? spare : static_cast<std::size_t>(row);
  };
  for (const RowPlan::Move& move : plan.moves) copy_row(place(move.from), place(move.to));
  cells_.resize(wanted);
}

Ort::Value SelfCache::tensor(std::size_t i) const {
  const auto count = static_cast<std::int64_t>(rows());
  return view_of(std::span<float>(row_data(i, 0), rows() * row_elements()),
                 {count, shape_.heads, capacity_, shape_.head_dim});
}

std::size_t SelfCache::row_elements() const {
  return static_cast<std::size_t>(shape_.heads * capacity_ * shape_.head_dim);
}

float* SelfCache::row_data(std::size_t tensor, std::size_t row) const {
  return data_.get() + (tensor * (row_capacity_ + 1) + row) * row_elements();
}

void SelfCache::grow(std::size_t rows, std::int64_t capacity) {
  SelfCache grown(shape_);
  grown.capacity_ = capacity;
  grown.row_capacity_ = rows;
  try {
    grown.data_ =
        std::make_unique_for_overwrite<float[]>(shape_.tensors * (rows + 1) * grown.row_elements());
  } catch (const std::bad_alloc&) {
    base::fail(ErrorCode::kResourceExhausted,
               "no memory for keys and values of {} rows of {} tokens; translate fewer sentences "
               "at once",
               rows, capacity);
  }
  const auto heads = static_cast<std::size_t>(shape_.heads);
  const auto dim = static_cast<std::size_t>(shape_.head_dim);
  for (std::size_t tensor = 0; tensor < shape_.tensors; ++tensor)
    for (std::size_t row = 0; row < cells_.size() && row < row_capacity_; ++row)
      for (std::size_t head = 0; head < heads; ++head)
        std::memcpy(grown.row_data(tensor, row) + head * static_cast<std::size_t>(capacity) * dim,
                    row_data(tensor, row) + head * static_cast<std::size_t>(capacity_) * dim,
                    cells_[row].size() * dim * sizeof(float));
  data_ = std::move(grown.data_);
  capacity_ = capacity;
  row_capacity_ = rows;
  ++version_;
}

void SelfCache::copy_row(std::size_t from, std::size_t to) {
  const Cells& source = from == row_capacity_ ? spare_cells_ : cells_[from];
  Cells& target = to == row_capacity_ ? spare_cells_ : cells_[to];
  const auto differs = [&](std::size_t i) { return i >= target.size() || target[i] != source[i]; };
  for (std::size_t begin = 0; begin < source.size(); ++begin) {
    if (!differs(begin)) continue;
    std::size_t end = begin + 1;
    while (end < source.size() && differs(end)) ++end;
    copy_cells(from, to, begin, end);
    begin = end;
  }
  target = source;
}

void SelfCache::copy_cells(std::size_t from, std::size_t to, std::size_t begin, std::size_t end) {
  const auto dim = static_cast<std::size_t>(shape_.head_dim);
  const auto stride = static_cast<std::size_t>(capacity_) * dim;
  for (std::size_t tensor = 0; tensor < shape_.tensors; ++tensor) {
    const float* source = row_data(tensor, from) + begin * dim;
    float* target = row_data(tensor, to) + begin * dim;
    for (std::int64_t head = 0; head < shape_.heads; ++head) {
      std::memcpy(target, source, (end - begin) * dim * sizeof(float));
      source += stride;
      target += stride;
    }
  }
}

}  // namespace sampan::session
