#include "checkpoint/tensor_store.h"

#include <utility>

#include "base/fail.h"

namespace sampan::checkpoint {

void TensorStore::add(std::string name, tensor::TensorView view,
                      const std::filesystem::path& file) {
  const auto [place, added] = tensors_.emplace(std::move(name), std::move(view));
  if (!added)
    base::fail(ErrorCode::kInvalidData,
               "{}: tensor '{}' appears twice; download the checkpoint again", file.string(),
               place->first);
}

const tensor::TensorView* TensorStore::find(std::string_view name) const {
  const auto place = tensors_.find(name);
  return place == tensors_.end() ? nullptr : &place->second;
}

}  // namespace sampan::checkpoint
