#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"
#include "session/graph_runner.h"
#include "session/signature.h"
#include "tensor/npz.h"

namespace sampan::verify {

/// What a caller knows of a model's inputs, where the rules below are wrong for it.
struct InputOptions {
  std::map<std::string, std::int64_t> axes;  ///< sizes of named axes
  std::optional<std::int64_t> id_limit;      ///< whole numbers lie in [0, id_limit)
};

/// One set of inputs to run a model on.
struct InputCase {
  std::string name;
  std::vector<session::NamedTensor> tensors;
};

/// Inputs for models that are to be compared, the same ones at each call, made from what the models
/// declare. An axis has the size that a caller or any of the models gives it; else one by its name:
/// batches are small, what is named after a past is 0 in the first case and some in the second,
/// `a + b` is the sum of both. All axes of one name are equally long. Whole numbers are ids below
/// `id_limit`, or below the rows of a table that the graph looks them up in, or below 16; but 1
/// (and 0 behind the end of a row) in masks, counted positions, and 0 for types. Floats lie between
/// -1 and 1. `models` may hold nothing, or less than the signatures: then fewer tables are known.
/// Throws `Error` kUnsupported for an input that is no tensor of numbers; kInvalidArgument for
/// models that contradict each other or the options.
std::vector<InputCase> make_inputs(std::span<const session::GraphSignature> signatures,
                                   std::span<const graph::Model> models,
                                   const InputOptions& options);

/// The model's inputs from a file's arrays of their names. Throws `Error` kInvalidArgument for an
/// input without an array, and what `tensor::NpzFile::read` throws.
InputCase read_inputs(const session::GraphSignature& signature, const tensor::NpzFile& file,
                      std::string name);

/// An array as the type that `dtype` (a signature's; empty: its own) is run with.
session::NamedTensor named_tensor(std::string name, const tensor::Array& array,
                                  std::string_view dtype);

}  // namespace sampan::verify
