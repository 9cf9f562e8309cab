#include "translator/package_check.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/fail.h"
#include "package/package.h"
#include "sampan/translator.h"
#include "session/sequence_model.h"

namespace sampan::translator {
namespace {

using package::GraphRole;

/// A package has two forms of the decoder, and translating takes one of them.
void load_every_graph(package::Package package) {
  if (package.graphs.contains(GraphRole::kDecoderMerged) &&
      package.graphs.contains(GraphRole::kDecoder)) {
    package::Package merged = package;
    merged.graphs.erase(GraphRole::kDecoder);
    merged.graphs.erase(GraphRole::kDecoderWithPast);
    session::SequenceModel::load(merged, {});
    package.graphs.erase(GraphRole::kDecoderMerged);
  }
  session::SequenceModel::load(package, {});
}

}  // namespace

void check_package(const std::filesystem::path& folder, const std::stop_token& stop) {
  load_every_graph(package::open_package(folder, session::runtime_version()));
  const Translator translator = Translator::load(folder);
  TranslateOptions options = translator.default_options();
  options.generation.max_new_tokens = 16;
  options.stop = stop;
  const std::vector<std::string> languages = translator.target_languages();
  if (!languages.empty()) options.target_language = languages.front();
  const std::vector<std::string> texts = {"Hello, how are you?"};
  const Translation translation = translator.translate(texts, options).front();
  if (translation.tokens.empty() || !std::isfinite(translation.score))
    base::fail(
        ErrorCode::kUnsupported,
        "the new package translates nothing; choose a scheme with more bits, or keep layers with "
        "--keep-float");
}

}  // namespace sampan::translator
