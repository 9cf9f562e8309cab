#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace sampan::checkpoint {

/// The named weights of a checkpoint, borrowed from mapped files where the container allows.
/// Immutable once built; reading is thread-safe. Tensors that share a storage in the checkpoint
/// have views with the same address.
class TensorStore {
 public:
  /// Whatever keeps the bytes of the views alive: mapped files, inflated buffers.
  using Owner = std::shared_ptr<const void>;

  TensorStore() = default;
  TensorStore(TensorStore&&) = default;
  TensorStore& operator=(TensorStore&&) = default;

  /// Adds a tensor. Throws `Error` kInvalidData (naming `file`, the culprit) when the name is
  /// taken, empty, absurdly long or has control characters: stored names can stand in messages as
  /// they are.
  void add(std::string name, tensor::TensorView view, const std::filesystem::path& file);
  void keep_alive(Owner owner) { owners_.push_back(std::move(owner)); }

  /// The view of a tensor, or null. Valid as long as the store.
  const tensor::TensorView* find(std::string_view name) const;
  const std::map<std::string, tensor::TensorView, std::less<>>& tensors() const { return tensors_; }

 private:
  std::map<std::string, tensor::TensorView, std::less<>> tensors_;
  std::vector<Owner> owners_;
};

}  // namespace sampan::checkpoint
