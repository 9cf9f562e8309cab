#include "checkpoint/torch_state_dict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/printable.h"

namespace sampan::checkpoint {
namespace {

using tensor::DType;
using tensor::Shape;

struct StorageType {
  std::string_view name;
  DType dtype;
};

constexpr std::array kStorageTypes = {
    StorageType{"FloatStorage", DType::kF32},     StorageType{"HalfStorage", DType::kF16},
    StorageType{"BFloat16Storage", DType::kBF16}, StorageType{"DoubleStorage", DType::kF64},
    StorageType{"LongStorage", DType::kI64},      StorageType{"IntStorage", DType::kI32},
    StorageType{"ShortStorage", DType::kI16},     StorageType{"CharStorage", DType::kI8},
    StorageType{"ByteStorage", DType::kU8},       StorageType{"BoolStorage", DType::kBool},
};

constexpr std::string_view kRebuild = "_rebuild_tensor";
constexpr std::string_view kRebuild2 = "_rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "_rebuild_parameter";

// torch's element types may stand in a state dictionary's metadata; they are never used.
constexpr std::string_view kDTypes[] = {"float32", "float16", "bfloat16", "float64", "int64",
                                        "int32",   "int16",   "int8",     "uint8",   "bool"};

std::optional<DType> storage_dtype(const pickle::Global& global) {
  if (global.module != "torch") return std::nullopt;
  for (const StorageType& type : kStorageTypes)
    if (global.name == type.name) return type.dtype;
  return std::nullopt;
}

bool is_ordered_dict(const pickle::Global& global) {
  return global.module == "collections" && global.name == "OrderedDict";
}

bool is_allowed(const pickle::Global& global) {
  if (is_ordered_dict(global) || storage_dtype(global)) return true;
  if (global.module == "torch._utils")
    return global.name == kRebuild || global.name == kRebuild2 || global.name == kRebuildParameter;
  if (global.module != "torch") return false;
  return global.name == "Size" ||
         std::find(std::begin(kDTypes), std::end(kDTypes), global.name) != std::end(kDTypes);
}

/// Reads the values of one pickle with their expected types.
class ValueReader {
 public:
  ValueReader(const Pickle& pickle, const std::filesystem::path& file)
      : pickle_(pickle), file_(file) {}

  const Pickle& pickle() const { return pickle_; }
  const std::filesystem::path& file() const { return file_; }

  [[noreturn]] void damaged(std::string_view problem) const {
    base::fail(ErrorCode::kInvalidData, "{}: damaged torch file: {}; download the file again",
               file_.string(), problem);
  }

  std::string_view text(ValueId id, std::string_view what) const {
    const auto* text = pickle_.as<pickle::Text>(id);
    if (text == nullptr) damaged(fmt::format("{} is no text", what));
    return text->characters;
  }

  std::int64_t count(ValueId id, std::string_view what) const {
    const auto* number = pickle_.as<std::int64_t>(id);
    if (number == nullptr || *number < 0) damaged(fmt::format("{} is no count", what));
    return *number;
  }

  const std::vector<ValueId>& tuple(ValueId id, std::string_view what) const {
    const auto* tuple = pickle_.as<pickle::Tuple>(id);
    if (tuple == nullptr) damaged(fmt::format("{} is no tuple", what));
    return tuple->items;
  }

  /// The global that a call applies, or null when the value is no call.
  const pickle::Global* callee(ValueId id) const {
    const auto* call = pickle_.as<pickle::Call>(id);
    return call ? pickle_.as<pickle::Global>(call->global) : nullptr;
  }

  const std::vector<ValueId>& arguments(ValueId call) const {
    return tuple(pickle_.as<pickle::Call>(call)->arguments, "a call's arguments");
  }

 private:
  const Pickle& pickle_;
  const std::filesystem::path& file_;
};

/// What a persistent id says: ('storage', type, key, location, elements[, view]). A view, of files
/// older than torch 0.4, is (key, first element, elements) within the storage.
struct StorageReference {
  std::string_view key;
  DType dtype = DType::kF32;
  std::int64_t elements = 0;  // of the whole storage
  std::int64_t first = 0;     // of the part referred to
  std::int64_t count = 0;
};

StorageReference read_reference(const ValueReader& reader, ValueId id) {
  const auto* persistent = reader.pickle().as<pickle::Persistent>(id);
  if (persistent == nullptr) reader.damaged("a tensor has no storage");
  const auto& items = reader.tuple(persistent->id, "a storage's description");
  if ((items.size() != 5 && items.size() != 6) || reader.text(items[0], "its kind") != "storage")
    reader.damaged("a storage's description is not torch's");
  const auto* type = reader.pickle().as<pickle::Global>(items[1]);
  const auto dtype = type ? storage_dtype(*type) : std::nullopt;
  if (!dtype) reader.damaged("a storage has no type");
  StorageReference reference;
  reference.dtype = *dtype;
  reference.key = reader.text(items[2], "a storage's key");
  constexpr std::size_t kLongestKey = 100;
  if (reference.key.size() > kLongestKey) reader.damaged("a storage's key is too long");
  reference.count = reference.elements = reader.count(items[4], "a storage's size");
  if (items.size() == 6 && reader.pickle().as<pickle::None>(items[5]) == nullptr) {
    const auto& view = reader.tuple(items[5], "a storage's view");
    if (view.size() != 3) reader.damaged("a storage's view is not torch's");
    reference.first = reader.count(view[1], "a view's first element");
    reference.count = reader.count(view[2], "a view's size");
    if (reference.first > reference.elements ||
        reference.count > reference.elements - reference.first)
      reader.damaged("a view leaves its storage");
  }
  return reference;
}

/// The part of a storage that a tensor shows, in elements.
struct Layout {
  Shape shape;
  Shape strides;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

bool is_gap_free(const Layout& layout) {
  if (layout.count == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t axis = layout.shape.size(); axis-- > 0;) {
    if (layout.shape[axis] == 1) continue;
    if (layout.strides[axis] != expected) return false;
    expected *= layout.shape[axis];
  }
  return true;
}

// Whether the last element lies in the storage; strides are never negative.
bool fits(const Layout& layout, std::int64_t elements) {
  if (layout.count == 0) return layout.first <= elements;
  std::int64_t last = layout.first;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(layout.shape[axis] - 1, layout.strides[axis], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
  }
  return last < elements;
}

// Copies the elements in row-major order.
std::vector<std::byte> gather(const Layout& layout, const TorchStorage& storage) {
  const std::size_t size = tensor::size_of(storage.dtype);
  std::vector<std::byte> copy(static_cast<std::size_t>(layout.count) * size);
  std::vector<std::int64_t> place(layout.shape.size(), 0);
  std::int64_t source = layout.first;
  for (std::int64_t i = 0; i < layout.count; ++i) {
    std::memcpy(copy.data() + static_cast<std::size_t>(i) * size,
                storage.bytes.data() + static_cast<std::size_t>(source) * size, size);
    for (std::size_t axis = place.size(); axis-- > 0;) {
      source += layout.strides[axis];
      if (++place[axis] < layout.shape[axis]) break;
      source -= layout.strides[axis] * layout.shape[axis];
      place[axis] = 0;
    }
  }
  return copy;
}

class StateDictReader {
 public:
  StateDictReader(const ValueReader& reader, const TorchStorages& storages, TensorStore& store)
      : reader_(reader), storages_(storages), store_(store) {
    for (const auto& [key, storage] : storages) copies_left_ += storage.bytes.size();
  }

  void run() {
    for (const auto& [key, value] : entries()) {
      const auto* name = reader_.pickle().as<pickle::Text>(key);
      if (name == nullptr) reader_.damaged("a name of the state dictionary is no text");
      name_ = base::printable(name->characters);
      store_.add(std::string(name->characters), read_tensor(find_tensor(value)), reader_.file());
    }
  }

 private:
  using Pairs = std::vector<std::pair<ValueId, ValueId>>;

  [[noreturn]] void refuse(std::string_view problem) const {
    base::fail(ErrorCode::kInvalidData, "{}: tensor '{}' {}; download the file again",
               reader_.file().string(), name_, problem);
  }

  // A plain dict, or OrderedDict() filled afterwards, or OrderedDict([[name, value], ...]).
  Pairs entries() const {
    const ValueId root = reader_.pickle().root();
    if (const auto* dict = reader_.pickle().as<pickle::Dict>(root)) return dict->items;
    const pickle::Global* callee = reader_.callee(root);
    if (callee == nullptr || !is_ordered_dict(*callee))
      reader_.damaged("it holds no state dictionary");
    Pairs pairs;
    const auto& arguments = reader_.arguments(root);
    if (!arguments.empty()) {
      const auto* list = reader_.pickle().as<pickle::List>(arguments[0]);
      if (list == nullptr) reader_.damaged("its state dictionary is made of no list");
      for (const ValueId item : list->items) pairs.push_back(read_pair(item));
    }
    const auto& set = reader_.pickle().as<pickle::Call>(root)->items;
    pairs.insert(pairs.end(), set.begin(), set.end());
    return pairs;
  }

  std::pair<ValueId, ValueId> read_pair(ValueId id) const {
    const auto* list = reader_.pickle().as<pickle::List>(id);
    const auto& items = list ? list->items : reader_.tuple(id, "an entry");
    if (items.size() != 2) reader_.damaged("an entry is no pair");
    return {items[0], items[1]};
  }

  // The call that rebuilds the tensor, out of a parameter's if it is one.
  ValueId find_tensor(ValueId value) const {
    constexpr int kDeepest = 4;
    for (int depth = 0; depth < kDeepest; ++depth) {
      const pickle::Global* callee = reader_.callee(value);
      if (callee == nullptr || callee->module != "torch._utils") break;
      if (callee->name != kRebuildParameter) return value;
      const auto& arguments = reader_.arguments(value);
      if (arguments.empty()) break;
      value = arguments[0];
    }
    base::fail(ErrorCode::kUnsupported,
               "{}: entry '{}' is no tensor; if this is a training checkpoint, save the model's "
               "state dictionary alone",
               reader_.file().string(), name_);
  }

  // _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata]).
  tensor::TensorView read_tensor(ValueId call) {
    const auto& arguments = reader_.arguments(call);
    if (arguments.size() < 4) refuse("is rebuilt from too few values");
    check_metadata(arguments);
    const StorageReference reference = read_reference(reader_, arguments[0]);
    const auto place = storages_.find(reference.key);
    if (place == storages_.end()) refuse("refers to a storage that is not there");
    Layout layout = read_layout(arguments);
    if (!fits(layout, reference.count)) refuse("leaves its storage");
    layout.first += reference.first;
    const TorchStorage& storage = place->second;
    if (!is_gap_free(layout))
      return {storage.dtype, layout.shape, copy_of(reference.key, storage, layout)};
    const std::size_t size = tensor::size_of(storage.dtype);
    return {storage.dtype, layout.shape,
            storage.bytes.subspan(static_cast<std::size_t>(layout.first) * size,
                                  static_cast<std::size_t>(layout.count) * size)};
  }

  // The seventh value may ask for the conjugate or the negative of what is stored.
  void check_metadata(const std::vector<ValueId>& arguments) const {
    if (arguments.size() < 7) return;
    const auto* dict = reader_.pickle().as<pickle::Dict>(arguments[6]);
    if (reader_.pickle().as<pickle::None>(arguments[6]) || (dict && dict->items.empty())) return;
    base::fail(ErrorCode::kUnsupported,
               "{}: tensor '{}' is stored conjugated or negated, which is not supported; save the "
               "checkpoint again",
               reader_.file().string(), name_);
  }

  Layout read_layout(const std::vector<ValueId>& arguments) const {
    Layout layout;
    layout.first = reader_.count(arguments[1], "a tensor's offset");
    layout.shape = read_extents(arguments[2]);
    layout.strides = read_extents(arguments[3]);
    const auto count = tensor::element_count(layout.shape);
    if (layout.shape.size() != layout.strides.size() || !count)
      refuse(fmt::format("has the impossible shape {}", tensor::to_string(layout.shape)));
    layout.count = *count;
    // The step along an axis of one element is never made, and may be any number.
    for (std::size_t axis = 0; axis < layout.shape.size(); ++axis)
      if (layout.shape[axis] == 1) layout.strides[axis] = 0;
    return layout;
  }

  // A tuple, or torch.Size of one.
  Shape read_extents(ValueId id) const {
    const pickle::Global* callee = reader_.callee(id);
    if (callee != nullptr && callee->name == "Size") {
      const auto& arguments = reader_.arguments(id);
      if (arguments.size() != 1) refuse("has a shape that is not torch's");
      id = arguments[0];
    }
    const std::vector<ValueId>& items = reader_.tuple(id, "a tensor's shape");
    constexpr std::size_t kMostAxes = 64;
    if (items.size() > kMostAxes) refuse(fmt::format("has {} axes", items.size()));
    Shape extents;
    for (const ValueId item : items) extents.push_back(reader_.count(item, "a tensor's extent"));
    return extents;
  }

  std::span<const std::byte> copy_of(std::string_view key, const TorchStorage& storage,
                                     const Layout& layout) {
    const auto identity = std::tuple(std::string(key), layout.first, layout.shape, layout.strides);
    const auto known = copies_.find(identity);
    if (known != copies_.end()) return known->second;
    const std::uint64_t size = tensor::size_of(storage.dtype);
    if (static_cast<std::uint64_t>(layout.count) > copies_left_ / size)
      base::fail(ErrorCode::kResourceExhausted,
                 "{}: tensor '{}' {} repeats a small storage so often that it would fill the "
                 "memory; save the checkpoint with contiguous tensors",
                 reader_.file().string(), name_, tensor::to_string(layout.shape));
    copies_left_ -= static_cast<std::uint64_t>(layout.count) * size;
    const auto copy = std::make_shared<const std::vector<std::byte>>(gather(layout, storage));
    store_.keep_alive(copy);
    copies_.emplace(identity, *copy);
    return *copy;
  }

  const ValueReader& reader_;
  const TorchStorages& storages_;
  TensorStore& store_;
  std::string name_;  // of the tensor being read
  std::uint64_t copies_left_ = std::uint64_t{64} << 20;
  std::map<std::tuple<std::string, std::int64_t, Shape, Shape>, std::span<const std::byte>> copies_;
};

}  // namespace

Pickle unpickle_torch(std::span<const std::byte> bytes, const std::filesystem::path& file) {
  return unpickle(bytes, file, {.allowed = is_allowed});
}

TorchStorages find_storages(const Pickle& pickle, const std::filesystem::path& file) {
  const ValueReader reader(pickle, file);
  TorchStorages storages;
  for (std::size_t i = 0; i < pickle.values().size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (pickle.as<pickle::Persistent>(id) == nullptr) continue;
    const StorageReference reference = read_reference(reader, id);
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(reference.elements,
                               static_cast<std::int64_t>(tensor::size_of(reference.dtype)), &bytes))
      reader.damaged("a storage has an impossible size");
    const auto [place, added] = storages.try_emplace(
        std::string(reference.key), TorchStorage{reference.dtype, reference.elements, {}});
    if (!added &&
        (place->second.dtype != reference.dtype || place->second.elements != reference.elements))
      reader.damaged(
          fmt::format("storage '{}' is described in two ways", base::printable(reference.key)));
  }
  return storages;
}

void add_state_dict(const Pickle& pickle, const TorchStorages& storages,
                    const std::filesystem::path& file, TensorStore& store) {
  const ValueReader reader(pickle, file);
  StateDictReader(reader, storages, store).run();
}

}  // namespace sampan::checkpoint
