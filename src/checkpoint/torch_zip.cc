#include "checkpoint/torch_zip.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "base/printable.h"
#include "base/zip_archive.h"
#include "checkpoint/torch_state_dict.h"

namespace sampan::checkpoint {
namespace {

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> bytes, const std::filesystem::path& file, TensorStore& store)
      : archive_(bytes, file),
        file_(file),
        store_(store),
        unpacking_left_((std::uint64_t{64} << 20) + bytes.size() * 16) {}

  void run() {
    const std::string folder = find_folder();
    check_byte_order(folder);
    const Pickle pickle = unpickle_torch(content(folder + "data.pkl"), file_);
    TorchStorages storages = find_storages(pickle, file_);
    for (auto& [key, storage] : storages) {
      const std::string name = folder + "data/" + key;
      const base::ZipEntry& entry = find(name);
      // find_storages has checked that this product fits.
      const std::uint64_t size =
          static_cast<std::uint64_t>(storage.elements) * tensor::size_of(storage.dtype);
      if (entry.size != size)
        damaged(fmt::format("'{}' has {} bytes where its tensors expect {}", base::printable(name),
                            entry.size, size));
      storage.bytes = content(name);
    }
    add_state_dict(pickle, storages, file_, store_);
  }

 private:
  [[noreturn]] void damaged(std::string_view problem) const {
    base::fail(ErrorCode::kInvalidData, "{}: damaged torch file: {}; download the file again",
               file_.string(), problem);
  }

  // The one folder with a data.pkl: "archive/".
  std::string find_folder() const {
    constexpr std::string_view kPickle = "/data.pkl";
    std::string folder;
    for (const auto& [name, entry] : archive_.entries()) {
      if (!name.ends_with(kPickle)) continue;
      const std::string parent = name.substr(0, name.size() - kPickle.size() + 1);
      if (parent.find('/') + 1 != parent.size()) continue;
      if (!folder.empty()) damaged("the archive has two folders with a data.pkl");
      folder = parent;
    }
    if (folder.empty())
      base::fail(ErrorCode::kInvalidData,
                 "{}: is a zip archive without data.pkl, so not one that torch writes; give the "
                 "checkpoint's own file",
                 file_.string());
    if (archive_.find(folder + "constants.pkl") != nullptr)
      base::fail(ErrorCode::kUnsupported,
                 "{}: is a TorchScript archive, which holds code; save the model's state "
                 "dictionary instead",
                 file_.string());
    return folder;
  }

  void check_byte_order(const std::string& folder) {
    const std::string name = folder + "byteorder";
    if (archive_.find(name) == nullptr) return;  // torch before 2.1 does not say: little-endian
    const std::span<const std::byte> bytes = content(name);
    const std::string_view order(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (order != "little")
      base::fail(ErrorCode::kUnsupported,
                 "{}: says its byte order is '{}'; only 'little' is supported: save it again on a "
                 "little-endian machine",
                 file_.string(), base::printable(order));
  }

  const base::ZipEntry& find(std::string_view name) const {
    const base::ZipEntry* entry = archive_.find(name);
    if (entry == nullptr) damaged(fmt::format("'{}' is missing", base::printable(name)));
    return *entry;
  }

  std::span<const std::byte> content(std::string_view name) {
    const base::ZipEntry& entry = find(name);
    if (!entry.deflated) return entry.packed;
    if (entry.size > unpacking_left_)
      base::fail(ErrorCode::kResourceExhausted,
                 "{}: '{}' would unpack to {} bytes, far more than an honest archive of this size "
                 "holds; do not trust this file",
                 file_.string(), base::printable(name), entry.size);
    unpacking_left_ -= entry.size;
    const auto unpacked =
        std::make_shared<const std::vector<std::byte>>(base::read_entry(entry, name, file_));
    store_.keep_alive(unpacked);
    return *unpacked;
  }

  const base::ZipArchive archive_;
  const std::filesystem::path& file_;
  TensorStore& store_;
  std::uint64_t unpacking_left_;  // bytes
};

}  // namespace

void read_torch_zip(std::span<const std::byte> bytes, const std::filesystem::path& file,
                    TensorStore& store) {
  ZipReader(bytes, file, store).run();
}

}  // namespace sampan::checkpoint
