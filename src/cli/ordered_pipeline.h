#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace sampan::cli {

/// Worker threads between one producer and one consumer: `work` runs in any of them, `consume` gets
/// the results one at a time in the order of `submit`. No more than workers + 1 inputs wait or are
/// worked on, and as many results, so memory stays bounded however long the stream is.
///
/// The first exception of `work` or `consume` ends the pipeline: `on_failure` is called once,
/// inputs not yet begun are dropped, results in order before the failed one are still consumed, and
/// `finish` throws it.
template <typename Input, typename Result>
class OrderedPipeline {
 public:
  struct Stages {
    std::function<Result(Input)> work;
    std::function<void(Result)> consume;
    std::function<void()> on_failure;  ///< should make running `work` calls end soon
  };

  OrderedPipeline(std::size_t workers, Stages stages)
      : stages_(std::move(stages)), capacity_(workers + 1) {
    for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { run(); });
  }
  ~OrderedPipeline() {
    fail({});
    join();
  }
  OrderedPipeline(const OrderedPipeline&) = delete;
  OrderedPipeline& operator=(const OrderedPipeline&) = delete;

  /// Waits until another input may be submitted; false once the pipeline failed.
  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] {
      return failed_ ||
             (inputs_.size() + running_ < capacity_ && submitted_ - consumed_ < 2 * capacity_);
    });
    return !failed_;
  }

  void submit(Input input) {
    const std::lock_guard lock(mutex_);
    inputs_.emplace_back(submitted_++, std::move(input));
    changed_.notify_all();
  }

  /// Waits until everything that was submitted is consumed; throws the first failure.
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return failed_ || ended_ || !inputs_.empty(); });
      if (failed_ || inputs_.empty()) return;
      auto [number, input] = std::move(inputs_.front());
      inputs_.pop_front();
      ++running_;
      lock.unlock();
      work_on(number, std::move(input));
      lock.lock();
      --running_;
      changed_.notify_all();
    }
  }

  void work_on(std::size_t number, Input input) {
    try {
      Result result = stages_.work(std::move(input));
      std::unique_lock lock(mutex_);
      results_.emplace(number, std::move(result));
      consume_in_order(lock);
    } catch (...) {
      fail(std::current_exception());
    }
  }

  // Whoever finds the next result in line consumes it, and what follows it, for all.
  void consume_in_order(std::unique_lock<std::mutex>& lock) {
    if (consuming_) return;
    consuming_ = true;
    while (!results_.empty() && results_.begin()->first == consumed_ && !consumer_failed_) {
      Result result = std::move(results_.begin()->second);
      results_.erase(results_.begin());
      lock.unlock();
      try {
        stages_.consume(std::move(result));
      } catch (...) {
        fail(std::current_exception());
        lock.lock();
        consumer_failed_ = true;
        break;
      }
      lock.lock();
      ++consumed_;
      changed_.notify_all();
    }
    consuming_ = false;
  }

  void fail(std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      if (failed_ || (!failure && ended_)) return;
      failed_ = true;
      failure_ = std::move(failure);
      changed_.notify_all();
    }
    stages_.on_failure();
  }

  void join() {
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

  Stages stages_;
  std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::size_t, Input>> inputs_;
  std::map<std::size_t, Result> results_;
  std::size_t submitted_ = 0;
  std::size_t running_ = 0;
  std::size_t consumed_ = 0;
  bool consuming_ = false;
  bool consumer_failed_ = false;
  bool ended_ = false;
  bool failed_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace sampan::cli
