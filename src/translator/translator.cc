#include "sampan/translator.h"

#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "base/fail.h"
#include "decode/generation_config_json.h"
#include "package/package.h"
#include "session/sequence_model.h"
#include "text/tokenizer.h"
#include "translator/engine.h"

namespace sampan {
namespace {

session::SessionOptions session_options(const LoadOptions& options) {
  constexpr std::array kLevels = {
      session::OptimizationLevel::kDisabled, session::OptimizationLevel::kBasic,
      session::OptimizationLevel::kExtended, session::OptimizationLevel::kAll};
  session::SessionOptions session;
  session.intra_op_threads = options.threads;
  session.optimization_level = kLevels.at(static_cast<std::size_t>(options.optimization_level));
  session.cpu_memory_arena = options.cpu_memory_arena;
  session.allow_spinning = options.allow_spinning;
  session.providers = options.providers;
  session.profile_folder = options.profile_folder;
  return session;
}

GenerationConfig generation_defaults(const package::Package& package) {
  decode::GenerationConfigTexts texts{package.folder, package.generation_config_json,
                                      package.config_json};
  if (package.generation_config_json == "{}") texts.generation_config.reset();
  return decode::parse_generation_config(texts);
}

translator::EngineParts load_parts(const std::filesystem::path& folder,
                                   const LoadOptions& options) {
  if (const auto problems = options.validate(); !problems.empty())
    base::fail(ErrorCode::kInvalidArgument, "{}", fmt::join(problems, "; "));
  const package::Package package = package::open_package(folder, session::runtime_version());
  translator::EngineParts parts;
  parts.defaults = generation_defaults(package);
  parts.max_positions = package.max_positions;
  parts.tokenizer = text::open_tokenizer(package.folder, package.model_type);
  parts.new_step_model = [model = session::SequenceModel::load(package, session_options(options))] {
    return model->new_step_model();
  };
  return parts;
}

}  // namespace

class Translator::Impl {
 public:
  explicit Impl(translator::EngineParts parts) : engine(std::move(parts)) {}
  const translator::Engine engine;
};

Translator::Translator(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Translator Translator::load(const std::filesystem::path& package, const LoadOptions& options) {
  return Translator(std::make_shared<const Impl>(load_parts(package, options)));
}

TranslateOptions Translator::default_options() const { return impl_->engine.default_options(); }

std::vector<Translation> Translator::translate(std::span<const std::string> texts,
                                               const TranslateOptions& options) const {
  return impl_->engine.translate(texts, options);
}

Translation Translator::translate(std::string_view text) const {
  const std::array texts = {std::string(text)};
  return std::move(translate(texts, default_options()).front());
}

std::vector<std::vector<Translation>> Translator::translate_n_best(
    std::span<const std::string> texts, const TranslateOptions& options) const {
  return impl_->engine.translate_n_best(texts, options);
}

std::vector<Translator::TargetScore> Translator::score(std::span<const std::string> sources,
                                                       std::span<const std::string> targets,
                                                       const TranslateOptions& options) const {
  return impl_->engine.score(sources, targets, options);
}

std::vector<std::string> Translator::target_languages() const {
  return impl_->engine.target_languages();
}

}  // namespace sampan
