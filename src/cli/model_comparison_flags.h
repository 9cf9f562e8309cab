#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "verify/model_comparison.h"

namespace CLI {
class App;
}

namespace sampan::cli {

/// What a user said on the command line about comparing a model with something else.
class ModelComparisonFlags {
 public:
  void add(CLI::App& app);
  /// Whether any flag asks for a comparison of models.
  bool given() const { return !against_.empty() || !expected_.empty(); }
  /// What the model is compared with.
  const std::filesystem::path& other() const { return against_.empty() ? expected_ : against_; }
  /// Whether a flag was given that only such a comparison understands.
  bool any() const;
  /// Throws `Error` kInvalidArgument for a size that is none.
  verify::ModelComparisonOptions options() const;

 private:
  std::filesystem::path against_, expected_, inputs_;
  std::vector<std::string> axes_;
  std::optional<std::int64_t> id_limit_;
  std::optional<double> limit_;
};

}  // namespace sampan::cli
