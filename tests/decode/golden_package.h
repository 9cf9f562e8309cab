#pragma once

#include <memory>

#include "session/sequence_model.h"

namespace sampan::decode {

/// The bundled checkpoint's model, on one thread; exported once for this program.
std::shared_ptr<const session::SequenceModel> golden_model();

}  // namespace sampan::decode
