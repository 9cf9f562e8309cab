#include "checkpoint/tensor_store.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "base/printable.h"

namespace sampan::checkpoint {
namespace {

constexpr std::size_t kLongestName = 1000;

}  // namespace

void TensorStore::add(std::string name, tensor::TensorView view,
                      const std::filesystem::path& file) {
  const bool plain = std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
  });
  if (name.empty() || name.size() > kLongestName || !plain)
    base::fail(ErrorCode::kInvalidData,
               "{}: '{}' is no name of a tensor; download the checkpoint "
               "again",
               file.string(), base::printable(name));
  const auto [place, added] = tensors_.emplace(std::move(name), std::move(view));
  if (!added)
    base::fail(ErrorCode::kInvalidData,
               "{}: tensor '{}' appears twice; download the checkpoint again", file.string(),
               base::printable(place->first));
}

const tensor::TensorView* TensorStore::find(std::string_view name) const {
  const auto place = tensors_.find(name);
  return place == tensors_.end() ? nullptr : &place->second;
}

}  // namespace sampan::checkpoint
