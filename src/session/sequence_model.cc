#include "session/sequence_model.h"

#include "session/loaded_graphs.h"
#include "session/onnx_step_model.h"

namespace sampan::session {
namespace {

class OnnxSequenceModel final : public SequenceModel {
 public:
  explicit OnnxSequenceModel(std::shared_ptr<const LoadedGraphs> graphs)
      : graphs_(std::move(graphs)) {}

  std::unique_ptr<decode::StepModel> new_step_model() const override {
    return std::make_unique<OnnxStepModel>(graphs_);
  }

 private:
  std::shared_ptr<const LoadedGraphs> graphs_;
};

}  // namespace

std::shared_ptr<const SequenceModel> SequenceModel::load(const package::Package& package,
                                                         const SessionOptions& options) {
  return std::make_shared<OnnxSequenceModel>(load_graphs(package, options));
}

}  // namespace sampan::session
