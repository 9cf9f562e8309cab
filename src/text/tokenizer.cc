#include "text/tokenizer.h"

#include "base/fail.h"
#include "base/printable.h"
#include "text/m2m100_tokenizer.h"
#include "text/marian_tokenizer.h"

namespace sampan::text {

std::unique_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& folder,
                                                std::string_view model_type) {
  if (model_type == "marian") return std::make_unique<const MarianTokenizer>(folder);
  if (model_type == "m2m_100") return std::make_unique<const M2M100Tokenizer>(folder);
  base::fail(ErrorCode::kUnsupported,
             "{}: no tokenizer for model_type '{}'; marian and m2m_100 are supported",
             folder.string(), base::printable(model_type));
}

}  // namespace sampan::text
