#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "graph/model.h"

namespace sampan::graph {

/// Reads an ONNX model. `name` stands for the bytes in messages. Weights of 1 KiB and more are not
/// copied: their `DataSource` copies from `bytes`, which must live (or be kept alive by `owner`) as
/// long as the model. External data is not opened (`open_external_data` does that).
/// Throws `Error`: kInvalidData for anything that is not a whole, well-formed model (an empty or
/// truncated file, a Git LFS pointer, a web page, sizes that contradict a shape, graphs nested too
/// deep); kUnsupported for a part of ONNX that this program cannot carry, naming it: nothing that
/// changes the meaning of a model is dropped silently.
Model read_model(std::span<const std::byte> bytes, const std::string& name,
                 std::shared_ptr<const void> owner = nullptr);

/// The same from a file, which stays mapped as long as the model. Also throws what
/// `base::MappedFile` throws.
Model read_model_file(const std::filesystem::path& path);

}  // namespace sampan::graph
