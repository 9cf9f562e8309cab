#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"
#include "session/graph_runner.h"
#include "session/sequence_model.h"
#include "tensor/npz.h"

namespace sampan::verify {

/// One of two sides that tell values by their names.
class ModelSide {
 public:
  virtual ~ModelSide() = default;
  /// What messages name.
  virtual std::string name() const = 0;
  /// Names of what it gives as results, in order.
  virtual std::vector<std::string> outputs() const = 0;
  /// Whether it knows an inner value of this name.
  virtual bool has(std::string_view name) const = 0;
  /// The values of these names, outputs or inner ones, for one set of inputs, in order; nothing for
  /// one that no tensor of numbers is. Throws as `session::GraphRunner::run`.
  virtual std::vector<std::optional<session::NamedTensor>> values(
      std::span<const session::NamedTensor> inputs, std::span<const std::string> names) const = 0;
};

/// A model that is run.
class RunnableModel final : public ModelSide {
 public:
  /// Throws as `session::GraphRunner`.
  RunnableModel(std::filesystem::path file, const session::SessionOptions& options);

  std::string name() const override { return file_.filename().string(); }
  std::vector<std::string> outputs() const override;
  bool has(std::string_view name) const override;
  std::vector<std::optional<session::NamedTensor>> values(
      std::span<const session::NamedTensor> inputs,
      std::span<const std::string> names) const override;

  const session::GraphSignature& signature() const { return runner_.signature(); }
  /// What our own reader makes of it; null, and the reason in `unread`, where it cannot read it.
  const graph::Model* model() const { return model_ ? &*model_ : nullptr; }
  const std::string& unread() const { return unread_; }

 private:
  std::vector<session::NamedTensor> inputs_of(const session::GraphRunner& runner,
                                              std::span<const session::NamedTensor> all) const;

  std::filesystem::path file_;
  session::SessionOptions options_;
  session::GraphRunner runner_;
  std::optional<graph::Model> model_;
  std::string unread_;
};

/// Values that were recorded.
class RecordedValues final : public ModelSide {
 public:
  /// `inputs` are names of arrays that are no results.
  RecordedValues(const std::filesystem::path& file, std::vector<std::string> inputs);

  std::string name() const override { return name_; }
  std::vector<std::string> outputs() const override;
  bool has(std::string_view name) const override { return file_.contains(name); }
  std::vector<std::optional<session::NamedTensor>> values(
      std::span<const session::NamedTensor> inputs,
      std::span<const std::string> names) const override;

 private:
  std::string name_;
  tensor::NpzFile file_;
  std::vector<std::string> inputs_;
};

}  // namespace sampan::verify
