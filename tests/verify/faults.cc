#include "verify/faults.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sampan::verify {
namespace {

using graph::Node;

std::vector<float> transposed(const std::vector<float>& matrix, std::size_t width) {
  std::vector<float> result(matrix.size());
  for (std::size_t row = 0; row < width; ++row)
    for (std::size_t column = 0; column < width; ++column)
      result[column * width + row] = matrix[row * width + column];
  return result;
}

/// What all faults of a layer are named by.
struct Names {
  explicit Names(const LayerKind& kind)
      : layer("layers." + std::to_string(kind.layer)),
        node("/" + kind.stack + "/" + layer + "/"),
        weight("model." + kind.stack + "." + layer + "."),
        place(layer + ".") {}
  std::string layer, node, weight, place;
};

Fault transposed_weight(const Names& names, const std::string& attention, const std::string& part,
                        int width) {
  const std::string node = names.node + attention + "/" + part + "/MatMul";
  const std::string weight = names.weight + attention + "." + part + ".weight.transposed";
  return {"transposed " + part,
          [=](GraphEditor& editor) {
            editor.replace_input(node, 1,
                                 transposed(editor.weight(weight), static_cast<std::size_t>(width)),
                                 {width, width});
          },
          names.place + attention + "." + part + ".product", "weight"};
}

Fault missing_bias(const Names& names, const std::string& node, const std::string& place) {
  return {"no bias of " + place,
          [path = names.node + node + "/Add"](GraphEditor& editor) { editor.bypass(path); },
          names.place + place, "bias"};
}

/// An operator of an attention that reads K where it should read V, and the other way.
Fault mixed_up_keys(const Names& names, const std::string& attention) {
  const std::string path = names.node + attention;
  return {"values for keys",
          [path](GraphEditor& editor) {
            std::swap(editor.node(path + "/Transpose").inputs[0],
                      editor.node(path + "/MatMul_1").inputs[1]);
          },
          names.place + attention + ".scores", "scores"};
}

void add_attention_faults(const Names& names, const std::string& attention, bool computes_keys,
                          int width, std::vector<Fault>& faults) {
  const std::string path = names.node + attention;
  const std::string place = names.place + attention;
  std::vector<std::string> parts = {"q_proj"};
  if (computes_keys) parts.insert(parts.end(), {"k_proj", "v_proj"});
  parts.push_back("out_proj");
  for (const std::string& part : parts) {
    faults.push_back(transposed_weight(names, attention, part, width));
    faults.push_back(missing_bias(names, attention + "/" + part, attention + "." + part));
  }
  if (computes_keys)
    faults.push_back({"swapped K and V",
                      [path](GraphEditor& editor) {
                        std::swap(editor.node(path + "/k_proj/MatMul").inputs[1],
                                  editor.node(path + "/v_proj/MatMul").inputs[1]);
                      },
                      place + ".k_proj.product", "weight"});
  faults.push_back(mixed_up_keys(names, attention));
  faults.push_back({"no scale", [path](GraphEditor& editor) { editor.bypass(path + "/Mul"); },
                    place + ".scores", "scale (8 times"});
  const bool causal = names.node.starts_with("/decoder") && attention == "self_attn";
  faults.push_back({"no mask", [path](GraphEditor& editor) { editor.bypass(path + "/Add"); },
                    place + ".probabilities", causal ? "causal mask" : "padding mask"});
}

void add_norm_faults(const Names& names, const std::string& norm, const std::string& sum,
                     std::vector<Fault>& faults) {
  const std::string path = names.node + norm + "/LayerNormalization";
  faults.push_back({"epsilon 1e-2 in " + norm,
                    [path](GraphEditor& editor) {
                      for (auto& [name, value] : editor.node(path).attributes)
                        if (name == "epsilon") value = 1e-2F;
                    },
                    names.place + norm, "normalisation"});
  faults.push_back({"no residual before " + norm,
                    [sum = names.node + sum](GraphEditor& editor) { editor.bypass(sum, 1); },
                    names.place + norm + ".input", "residual"});
}

void add_feed_forward_faults(const Names& names, std::vector<Fault>& faults) {
  for (const char* part : {"fc1", "fc2"}) faults.push_back(missing_bias(names, part, part));
  faults.push_back({"relu for swish",
                    [path = names.node + "activation/Mul"](GraphEditor& editor) {
                      Node& node = editor.node(path);
                      node.op_type = "Relu";
                      node.inputs.resize(1);
                    },
                    names.place + "activation", "activation"});
  faults.push_back(
      {"half precision overflows",
       [path = names.node](GraphEditor& editor) {
         const std::string big = editor.constant(1e6F);
         const std::string output = editor.node(path + "activation/Mul").outputs.front();
         const auto own = [&](const char* name) { return editor.value_name(path + name); };
         editor.insert_behind(
             output,
             {{"Mul", "", own("half/Mul"), {"value", big}, {own("half/Mul")}, {}},
              {"Cast",
               "",
               own("half/Cast"),
               {own("half/Mul")},
               {own("half/Cast")},
               {{"to", std::int64_t{10}}}},
              {"Cast",
               "",
               own("half/Back"),
               {own("half/Cast")},
               {own("half/Back")},
               {{"to", std::int64_t{1}}}},
              {"Div", "", own("half/Div"), {own("half/Back"), big}, {own("half/Div")}, {}}});
       },
       names.place + "activation", "overflow"});
  faults.push_back({"dropout of training",
                    [path = names.node](GraphEditor& editor) {
                      const std::string ratio = editor.constant(0.5F);
                      const std::string one = editor.constant({1}, true);
                      const std::string output = editor.node(path + "fc2/Add").outputs.front();
                      const auto own = [&](const char* name) {
                        return editor.value_name(path + name);
                      };
                      editor.insert_behind(output, {{"Cast",
                                                     "",
                                                     own("training/Cast"),
                                                     {one},
                                                     {own("training/Cast")},
                                                     {{"to", std::int64_t{9}}}},
                                                    {"Dropout",
                                                     "",
                                                     own("fc2/Dropout"),
                                                     {"value", ratio, own("training/Cast")},
                                                     {own("fc2/Dropout")},
                                                     {}}});
                    },
                    names.place + "fc2", "dropout"});
}

}  // namespace

std::vector<Fault> faults_of_layer(const LayerKind& kind) {
  const Names names(kind);
  std::vector<Fault> faults;
  add_attention_faults(names, "self_attn", true, kind.width, faults);
  add_norm_faults(names, "self_attn_layer_norm", "Add", faults);
  if (kind.cross_attention) {
    add_attention_faults(names, "encoder_attn", kind.computes_cross_keys, kind.width, faults);
    add_norm_faults(names, "encoder_attn_layer_norm", "Add_1", faults);
  }
  add_feed_forward_faults(names, faults);
  add_norm_faults(names, "final_layer_norm", kind.cross_attention ? "Add_2" : "Add_1", faults);
  if (kind.cross_attention && !kind.computes_cross_keys)
    faults.push_back(
        {"cross-attention of an earlier sentence",
         [layer = std::to_string(kind.layer)](GraphEditor& editor) {
           const std::string first = editor.constant({0}, false);
           const std::string stale = editor.value_name("/stale");
           editor.insert_behind(
               "past_key_values." + layer + ".encoder.key",
               {{"Gather", "", stale, {"value", first}, {stale}, {{"axis", std::int64_t{0}}}}});
         },
         names.place + "encoder_attn.scores", "scores"});
  return faults;
}

std::vector<Fault> faults_of_embedding(const std::string& stack, int width) {
  const std::string path = "/" + stack;
  return {
      {"no scale", [path](GraphEditor& editor) { editor.bypass(path + "/embed/Mul"); }, "embedding",
       "scale"},
      {"no positions", [path](GraphEditor& editor) { editor.bypass(path + "/embed/Add"); },
       "embedding", "positions"},
      {"positions off by one",
       [path](GraphEditor& editor) {
         const std::string one = editor.constant({1}, true);
         const std::string places = editor.value_name(path + "/places/Shifted");
         editor.insert_behind(editor.node(path + "/places/Range").outputs.front(),
                              {{"Add", "", places, {"value", one}, {places}, {}}});
       },
       "embed_positions", "positions"},
      {"interleaved sinusoids",
       [path, stack, width](GraphEditor& editor) {
         std::vector<float> table = editor.weight("model." + stack + ".embed_positions.weight");
         const auto columns = static_cast<std::size_t>(width);
         const std::vector<float> halves = table;
         for (std::size_t i = 0; i < table.size(); ++i) {
           const std::size_t column = i % columns;
           table[i] = halves[i - column + column / 2 + (column % 2) * columns / 2];
         }
         const auto rows = static_cast<std::int64_t>(table.size() / columns);
         editor.replace_input(path + "/embed/Gather_1", 0, std::move(table), {rows, width});
       },
       "embed_positions", "positions"},
  };
}

std::vector<Fault> faults_of_decoder(int width, int vocab_size) {
  std::vector<Fault> faults = faults_of_embedding("decoder", width);
  faults.push_back(
      {"no bias of the logits",
       [](GraphEditor& editor) { editor.node("/decoder/logits/Gemm").inputs.pop_back(); },
       "lm_head", "bias"});
  faults.push_back(
      {"another matrix for the logits",
       [=](GraphEditor& editor) {
         std::vector<float> table = editor.weight("model.shared.weight");
         std::ranges::reverse(table);
         editor.replace_input("/decoder/logits/Gemm", 1, std::move(table), {vocab_size, width});
       },
       "lm_head", "weight"});
  return faults;
}

}  // namespace sampan::verify
