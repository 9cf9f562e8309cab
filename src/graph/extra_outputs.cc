#include "graph/extra_outputs.h"

#include <protozero/pbf_writer.hpp>

#include "graph/onnx_format.h"

namespace sampan::graph {

std::string extra_outputs(std::span<const std::string> names) {
  using namespace onnx;
  const auto number = [](auto field) { return static_cast<protozero::pbf_tag_type>(field); };
  std::string graph;
  protozero::pbf_writer outputs(graph);
  for (const std::string& name : names) {
    std::string value;
    protozero::pbf_writer(value).add_string(number(ValueField::kName), name);
    outputs.add_message(number(GraphField::kOutput), value);
  }
  std::string model;
  protozero::pbf_writer(model).add_message(number(ModelField::kGraph), graph);
  return model;
}

}  // namespace sampan::graph
