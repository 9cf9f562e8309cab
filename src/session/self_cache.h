#pragma once

#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sampan::session {

/// Shape of a cache: what does not change while one model runs.
struct CacheShape {
  std::size_t tensors = 0;  ///< keys and values of all layers
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
};

/// Keys and values of the targets under construction, in tensors [row, head, capacity, head_dim]
/// that the runtime reads and appends to in place. Each row has its own length.
///
/// Rows that continue others share their beginnings with them, most of which already lie where they
/// are needed: each cell knows in which step and row it was made, and only cells that differ are
/// copied.
class SelfCache {
 public:
  explicit SelfCache(const CacheShape& shape) : shape_(shape) {}

  /// `rows` empty rows.
  void reset(std::size_t rows);
  std::size_t rows() const { return cells_.size(); }
  std::int64_t length(std::size_t row) const {
    return static_cast<std::int64_t>(cells_[row].size());
  }
  std::int64_t longest() const;

  /// Makes room for `more` positions behind each row. Throws kResourceExhausted.
  void reserve(std::int64_t more);
  /// Each row grew by `count` positions, which the runtime has written.
  void append(std::int64_t count);
  /// Row i becomes old row origins[i]. Throws kResourceExhausted.
  void select(std::span<const std::int64_t> origins);

  /// Tensor i over the rows, valid until `version` changes.
  Ort::Value tensor(std::size_t i) const;
  /// Changes whenever tensors lie elsewhere or have other extents.
  std::uint64_t version() const { return version_; }

 private:
  using Cells = std::vector<std::uint64_t>;

  std::size_t row_elements() const;
  float* row_data(std::size_t tensor, std::size_t row) const;
  void grow(std::size_t rows, std::int64_t capacity);
  /// Rows beyond the last are spare.
  void copy_row(std::size_t from, std::size_t to);
  void copy_cells(std::size_t from, std::size_t to, std::size_t begin, std::size_t end);

  CacheShape shape_;
  std::int64_t capacity_ = 0;      ///< positions of a row
  std::size_t row_capacity_ = 0;   ///< rows, and one spare behind them
  std::unique_ptr<float[]> data_;  ///< [tensor, row, head, position, head_dim]
  std::vector<Cells> cells_;       ///< [row][position]: which cell lies there
  Cells spare_cells_;
  std::uint64_t next_cell_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace sampan::session
