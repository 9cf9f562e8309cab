#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "decode/step_model.h"

namespace sampan::translator {

/// Keeps the step models of one loaded model for the next search, so that their buffers are made
/// once for each thread that translates at the same time. Thread-safe.
class StepModelPool {
 public:
  using Factory = std::function<std::unique_ptr<decode::StepModel>()>;

  explicit StepModelPool(Factory make) : make_(std::move(make)) {}

  /// A step model that nobody else uses until it is given back.
  std::unique_ptr<decode::StepModel> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto model = std::move(idle_.back());
        idle_.pop_back();
        return model;
      }
    }
    return make_();
  }

  /// Gives a step model back. One whose search threw is dropped instead: its state is unknown.
  void give_back(std::unique_ptr<decode::StepModel> model) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(model));
  }

 private:
  Factory make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<decode::StepModel>> idle_;
};

}  // namespace sampan::translator
