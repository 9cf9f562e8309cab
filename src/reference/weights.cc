#include "reference/weights.h"

#include <vector>

#include "base/fail.h"
#include "tensor/tensor.h"

namespace sampan::reference {

Index Weights::rows(const std::string& name) const {
  const tensor::TensorView* view = checkpoint_.weights.find(name);
  return view == nullptr || view->shape.empty() ? 0 : view->shape.front();
}

Matrix Weights::matrix(const std::string& name, Index rows, Index columns) const {
  const tensor::TensorView* view = checkpoint_.weights.find(name);
  if (view == nullptr)
    base::fail(ErrorCode::kInvalidData,
               "{}: tensor '{}' is missing; the reference needs the complete checkpoint",
               checkpoint_.folder.string(), name);
  const tensor::Shape expected = {rows, columns};
  const bool is_vector = rows == 1 && view->shape == tensor::Shape{columns};
  if (view->shape != expected && !is_vector)
    base::fail(ErrorCode::kInvalidData,
               "{}: tensor '{}' has shape {}, config.json says {}; download the checkpoint again",
               checkpoint_.folder.string(), name, tensor::to_string(view->shape),
               tensor::to_string(expected));
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  tensor::to_floats(*view, values);
  using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const FloatMatrix>(values.data(), rows, columns).cast<double>();
}

RowVector Weights::vector(const std::string& name, Index size) const {
  return matrix(name, 1, size).row(0);
}

Linear Weights::linear(const std::string& module, Index out, Index in) const {
  return {matrix(module + ".weight", out, in), vector(module + ".bias", out)};
}

LayerNorm Weights::layer_norm(const std::string& module, Index size) const {
  return {vector(module + ".weight", size), vector(module + ".bias", size)};
}

Attention Weights::attention(const std::string& module, Index d_model, Index heads) const {
  return {linear(module + ".q_proj", d_model, d_model),
          linear(module + ".k_proj", d_model, d_model),
          linear(module + ".v_proj", d_model, d_model),
          linear(module + ".out_proj", d_model, d_model), heads};
}

}  // namespace sampan::reference
