#include "checkpoint/torch_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_cursor.h"
#include "base/fail.h"
#include "base/printable.h"
#include "checkpoint/torch_state_dict.h"

namespace sampan::checkpoint {
namespace {

// 0x1950a86a20f9469cfc6c, little-endian.
constexpr std::array<std::uint8_t, 10> kMagic = {0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                                 0x20, 0x6a, 0xa8, 0x50, 0x19};
constexpr std::int64_t kProtocolVersion = 1001;

class StreamReader {
 public:
  StreamReader(std::span<const std::byte> bytes, const std::filesystem::path& file)
      : rest_(bytes), file_(file) {}

  void run(TensorStore& store) {
    check_magic();
    check_version();
    check_system();
    const Pickle state = next_pickle();
    TorchStorages storages = find_storages(state, file_);
    const Pickle keys = next_pickle();
    read_storages(keys, storages);
    add_state_dict(state, storages, file_, store);
  }

 private:
  [[noreturn]] void damaged(std::string_view problem) const {
    base::fail(ErrorCode::kInvalidData, "{}: damaged torch file: {}; download the file again",
               file_.string(), problem);
  }

  Pickle next_pickle() {
    Pickle pickle = unpickle_torch(rest_, file_);
    rest_ = rest_.subspan(pickle.size());
    return pickle;
  }

  void check_magic() {
    const Pickle pickle = next_pickle();
    const auto* magic = pickle.as<pickle::BigInteger>(pickle.root());
    const auto same = [](std::byte a, std::uint8_t b) {
      return std::to_integer<std::uint8_t>(a) == b;
    };
    if (magic == nullptr ||
        !std::equal(magic->bytes.begin(), magic->bytes.end(), kMagic.begin(), kMagic.end(), same))
      damaged("it does not begin with torch's magic number");
  }

  void check_version() {
    const Pickle pickle = next_pickle();
    const auto* version = pickle.as<std::int64_t>(pickle.root());
    if (version == nullptr || *version != kProtocolVersion)
      damaged(version
                  ? fmt::format("its protocol version is {}, not {}", *version, kProtocolVersion)
                  : "its protocol version is no number");
  }

  void check_system() {
    const Pickle pickle = next_pickle();
    const auto* system = pickle.as<pickle::Dict>(pickle.root());
    if (system == nullptr) damaged("it does not describe its system");
    for (const auto& [key, value] : system->items) {
      const auto* name = pickle.as<pickle::Text>(key);
      if (name == nullptr || name->characters != "little_endian") continue;
      const bool* little = pickle.as<bool>(value);
      if (little != nullptr && *little) return;
      base::fail(ErrorCode::kUnsupported,
                 "{}: was written on a big-endian machine, which is not supported; save it again "
                 "on a little-endian one",
                 file_.string());
    }
    damaged("it does not say its byte order");
  }

  void read_storages(const Pickle& keys, TorchStorages& storages) {
    const auto* list = keys.as<pickle::List>(keys.root());
    if (list == nullptr) damaged("its storages are not listed");
    std::size_t found = 0;
    base::ByteCursor cursor(rest_, file_, "a storage");
    for (const ValueId item : list->items) {
      const auto* key = keys.as<pickle::Text>(item);
      const auto place = key ? storages.find(key->characters) : storages.end();
      if (place == storages.end()) damaged("it lists a storage that no tensor has");
      TorchStorage& storage = place->second;
      const auto count = cursor.little_endian<std::uint64_t>();
      if (count != static_cast<std::uint64_t>(storage.elements))
        damaged(fmt::format("storage '{}' has {} elements where {} are expected",
                            base::printable(place->first), count, storage.elements));
      // find_storages has checked that this product fits.
      storage.bytes = cursor.take(count * tensor::size_of(storage.dtype));
      ++found;
    }
    if (found != storages.size())
      damaged(
          fmt::format("it lists {} storages where its tensors have {}", found, storages.size()));
  }

  std::span<const std::byte> rest_;
  const std::filesystem::path& file_;
};

}  // namespace

bool begins_like_torch_stream(std::span<const std::byte> bytes) {
  // The magic number's pickle: the protocol (and from protocol 4 a frame), then LONG1.
  constexpr std::size_t kLookedAt = 24;
  constexpr std::byte kProto{0x80};
  if (bytes.empty() || bytes[0] != kProto) return false;
  const auto opening = bytes.first(std::min(bytes.size(), kLookedAt));
  const auto same = [](std::byte a, std::uint8_t b) {
    return std::to_integer<std::uint8_t>(a) == b;
  };
  return std::search(opening.begin(), opening.end(), kMagic.begin(), kMagic.end(), same) !=
         opening.end();
}

void read_torch_stream(std::span<const std::byte> bytes, const std::filesystem::path& file,
                       TensorStore& store) {
  StreamReader(bytes, file).run(store);
}

}  // namespace sampan::checkpoint
