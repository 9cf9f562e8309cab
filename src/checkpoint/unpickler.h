#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sampan::checkpoint {

/// Index of a value among those of one pickle. A list may hold itself: whoever follows ids bounds
/// the depth.
enum class ValueId : std::uint32_t {};

namespace pickle {

struct None {};
/// An integer beyond 64 bits: two's complement, little-endian.
struct BigInteger {
  std::span<const std::byte> bytes;
};
struct Text {
  std::string_view characters;  ///< as in the file: UTF-8, not checked
};
struct Tuple {
  std::vector<ValueId> items;
};
struct List {
  std::vector<ValueId> items;
};
struct Dict {
  std::vector<std::pair<ValueId, ValueId>> items;  ///< in order; keys may repeat
};
/// The name of a class or function. Nothing is looked up by it.
struct Global {
  std::string_view module;
  std::string_view name;
};
/// What stands for an object outside the pickle: torch's storages.
struct Persistent {
  ValueId id;
};
/// An allowed global applied to arguments, as written: nothing is called. `items` are what was set
/// in the result afterwards (as for OrderedDict).
struct Call {
  ValueId global;
  ValueId arguments;
  std::vector<std::pair<ValueId, ValueId>> items;
};

using Value = std::variant<None, bool, std::int64_t, BigInteger, double, Text, Tuple, List, Dict,
                           Global, Persistent, Call>;

}  // namespace pickle

/// A pickle read as plain values, borrowed from its bytes.
class Pickle {
 public:
  Pickle(std::vector<pickle::Value> values, ValueId root, std::size_t size)
      : values_(std::move(values)), root_(root), size_(size) {}

  ValueId root() const { return root_; }
  std::size_t size() const { return size_; }  ///< bytes of the pickle, its STOP included
  const std::vector<pickle::Value>& values() const { return values_; }
  const pickle::Value& at(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
  /// The value if it is of that type, or null: `pickle.as<pickle::Tuple>(id)`.
  template <typename T>
  const T* as(ValueId id) const {
    return std::get_if<T>(&at(id));
  }

 private:
  std::vector<pickle::Value> values_;
  ValueId root_;
  std::size_t size_;
};

struct UnpickleOptions {
  /// The globals that may be named. Any other ends the reading with an error that names it.
  std::function<bool(const pickle::Global&)> allowed;
  /// Operations at most. Each makes at most one value of some 100 bytes, so this bounds memory.
  std::size_t most_operations = 1'000'000;
};

/// Reads the pickle at the beginning of `bytes`, protocols 1 to 5, without running anything: a
/// value machine that knows data and nothing else. `bytes` must outlive the result; `file` is what
/// messages name. Memory is bounded by `most_operations`, and nothing here recurses.
///
/// Throws `Error`: kInvalidData for a damaged pickle, and for one that names a global which is not
/// allowed or asks for objects to be built, by that name; kUnsupported beyond the limit.
Pickle unpickle(std::span<const std::byte> bytes, const std::filesystem::path& file,
                const UnpickleOptions& options);

}  // namespace sampan::checkpoint
