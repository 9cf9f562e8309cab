#include "session/sequence_model.h"

#include "package/fused_layout.h"
#include "session/fused_graphs.h"
#include "session/fused_step_model.h"
#include "session/loaded_graphs.h"
#include "session/onnx_step_model.h"

namespace sampan::session {
namespace {

/// `Graphs` as loaded, `Model` to decode with them.
template <typename Graphs, typename Model>
class LoadedModel final : public SequenceModel {
 public:
  explicit LoadedModel(std::shared_ptr<const Graphs> graphs) : graphs_(std::move(graphs)) {}

  std::unique_ptr<decode::StepModel> new_step_model() const override {
    return std::make_unique<Model>(graphs_);
  }

 private:
  std::shared_ptr<const Graphs> graphs_;
};

}  // namespace

std::shared_ptr<const SequenceModel> SequenceModel::load(const package::Package& package,
                                                         const SessionOptions& options) {
  if (package.layout == package::kFusedLayout)
    return std::make_shared<LoadedModel<FusedGraphs, FusedStepModel>>(
        load_fused_graphs(package, options));
  return std::make_shared<LoadedModel<LoadedGraphs, OnnxStepModel>>(load_graphs(package, options));
}

}  // namespace sampan::session
