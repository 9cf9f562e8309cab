#include "tune/trial.h"

#include <utility>

namespace sampan::tune {
namespace {

std::unique_ptr<package::PackageWriter> trial_writer() {
  return std::make_unique<package::PackageWriter>(
      std::filesystem::temp_directory_path() / "sampan-trial", false);
}

}  // namespace

Trial::Trial(const std::filesystem::path& package) : translator_(Translator::load(package)) {}

Trial::Trial(const SourcePackage& source, quantize::Scheme& scheme, const Progress& progress)
    : writer_(trial_writer()),
      summary_(rewrite_package(source, scheme, *writer_, {{}, progress.stop})),
      translator_(Translator::load(writer_->folder())) {}

TranslateOptions Trial::options(const std::stop_token& stop) const {
  TranslateOptions options = translator_.default_options();
  options.stop = stop;
  const std::vector<std::string> languages = translator_.target_languages();
  if (!languages.empty()) options.target_language = languages.front();
  return options;
}

std::vector<Translation> Trial::translate(std::span<const std::string> sources,
                                          const std::stop_token& stop) const {
  return translator_.translate(sources, options(stop));
}

std::vector<std::string> Trial::translate_text(std::span<const std::string> sources,
                                               const std::stop_token& stop) const {
  std::vector<std::string> texts;
  for (Translation& translation : translate(sources, stop))
    texts.push_back(std::move(translation.text));
  return texts;
}

evaluate::Pass Trial::translate_timed(std::span<const std::string> sources, std::size_t batch_size,
                                      const std::stop_token& stop) const {
  TranslateOptions batched = options(stop);
  batched.batch_size = batch_size;
  return evaluate::translate_timed(translator_, sources, batched);
}

double Trial::nats_per_token(std::span<const std::string> sources,
                             std::span<const std::string> targets,
                             const std::stop_token& stop) const {
  double sum = 0.0;
  std::size_t count = 0;
  for (const Translator::TargetScore& score : translator_.score(sources, targets, options(stop))) {
    for (const float log_prob : score.log_probs) sum -= static_cast<double>(log_prob);
    count += score.log_probs.size();
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

}  // namespace sampan::tune
