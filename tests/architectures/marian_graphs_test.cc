// Marian's graphs in every shape that a checkpoint may have, run by the runtime and held against
// the reference, which itself is held against transformers.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "architectures/architecture.h"
#include "graph/checker.h"
#include "graph/external_data.h"
#include "graph/onnx_writer.h"
#include "package/graph_files.h"
#include "package/package.h"
#include "reference/marian.h"
#include "sampan/error.h"
#include "session/sequence_model.h"
#include "support/temporary_folder.h"

namespace sampan::architectures {
namespace {

using checkpoint::Activation;
using checkpoint::Checkpoint;
using package::GraphRole;

struct Variant {
  std::string name;
  Activation activation = Activation::kSilu;
  bool shared = true;  ///< share_encoder_decoder_embeddings
  bool tied = true;    ///< tie_word_embeddings
  std::int64_t decoder_vocab_size = 31;
  std::int64_t decoder_rows = 31;  ///< of the target embedding, where it is not shared
  bool positions = true;           ///< embed_positions in the file
  bool bias = true;                ///< final_logits_bias in the file
  bool scale = true;

  friend void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }
};

/// A checkpoint of random weights, all biases non-zero, so that nothing missing goes unseen.
class RandomCheckpoint {
 public:
  explicit RandomCheckpoint(const Variant& variant) {
    checkpoint::ModelConfig& config = checkpoint_.config;
    config = {.model_type = "marian",
              .d_model = 24,
              .encoder_layers = 2,
              .decoder_layers = 3,
              .encoder_attention_heads = 3,
              .decoder_attention_heads = 2,
              .encoder_ffn_dim = 20,
              .decoder_ffn_dim = 28,
              .vocab_size = 31,
              .decoder_vocab_size = variant.decoder_vocab_size,
              .max_position_embeddings = 16,
              .activation_function = variant.activation,
              .scale_embedding = variant.scale,
              .share_encoder_decoder_embeddings = variant.shared,
              .tie_word_embeddings = variant.tied,
              .pad_token_id = 30,
              .eos_token_id = {0},
              .bos_token_id = 0,
              .decoder_start_token_id = 30};
    checkpoint_.folder = "random";
    if (variant.shared) {
      add("model.shared.weight", {31, 24});
    } else {
      add("model.encoder.embed_tokens.weight", {31, 24});
      add("model.decoder.embed_tokens.weight", {variant.decoder_rows, 24});
    }
    if (!variant.tied) add("lm_head.weight", {variant.decoder_vocab_size, 24});
    if (variant.bias)
      add("final_logits_bias",
          {1, variant.tied && !variant.shared ? variant.decoder_rows : variant.decoder_vocab_size});
    for (const std::string stack : {"encoder", "decoder"}) {
      const bool encoder = stack == "encoder";
      if (variant.positions) add("model." + stack + ".embed_positions.weight", {16, 24});
      for (int i = 0; i < (encoder ? 2 : 3); ++i) {
        const std::string layer = "model." + stack + ".layers." + std::to_string(i);
        add_attention(layer + ".self_attn");
        if (!encoder) add_attention(layer + ".encoder_attn");
        add_linear(layer + ".fc1", encoder ? 20 : 28, 24);
        add_linear(layer + ".fc2", 24, encoder ? 20 : 28);
        add_norm(layer + ".final_layer_norm");
      }
    }
  }

  const Checkpoint& get() const { return checkpoint_; }
  Checkpoint& get() { return checkpoint_; }

  void add(const std::string& name, tensor::Shape shape) {
    const auto values = std::make_shared<std::vector<float>>(
        static_cast<std::size_t>(*tensor::element_count(shape)));
    const float centre = name.ends_with("norm.weight") ? 1.0f : 0.0f;
    std::normal_distribution<float> normal(centre, 0.25f);
    for (float& value : *values) value = normal(generator_);
    checkpoint_.weights.keep_alive(values);
    checkpoint_.weights.add(
        name, {tensor::DType::kF32, std::move(shape), std::as_bytes(std::span(*values))},
        "random.safetensors");
  }

 private:
  void add_linear(const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }
  void add_norm(const std::string& name) {
    add(name + ".weight", {24});
    add(name + ".bias", {24});
  }
  void add_attention(const std::string& name) {
    for (const char* part : {".q_proj", ".k_proj", ".v_proj", ".out_proj"})
      add_linear(name + part, 24, 24);
    add_norm(name + "_layer_norm");
  }

  Checkpoint checkpoint_;
  std::mt19937 generator_{7};
};

class MarianGraphs : public testing::TestWithParam<Variant> {
 protected:
  /// Writes the graphs of `roles` and loads them.
  std::shared_ptr<const session::SequenceModel> load(const Seq2SeqGraphs& graphs,
                                                     const std::vector<GraphRole>& roles) {
    package::Package package;
    package.folder = folder_.path();
    package.model_type = "marian";
    package.max_positions = 16;
    package.pad_token_id = 30;
    for (const GraphRole role : roles) {
      const graph::Model& model = role == GraphRole::kEncoder         ? graphs.encoder
                                  : role == GraphRole::kDecoder       ? graphs.decoder
                                  : role == GraphRole::kDecoderMerged ? graphs.decoder_merged
                                                                      : graphs.decoder_with_past;
      graph::check_model(model);
      const auto path = folder_.path() / package::graph_file_name(role);
      std::ofstream file(path, std::ios::binary);
      graph::write_model(model, [&file](std::span<const std::byte> bytes) {
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
      });
      package.graphs[role] = path;
    }
    session::SessionOptions options;
    options.intra_op_threads = 1;
    return session::SequenceModel::load(package, options);
  }

  /// A padded batch, two tokens at once and then one by one, against the reference row by row.
  static void expect_reference(const session::SequenceModel& model,
                               const reference::Marian& reference, const std::string& what) {
    const decode::SourceBatch sources = {{5, 9, 2, 17, 0}, {3, 0}, {8, 8, 21, 0}};
    const std::vector<std::vector<std::int64_t>> steps = {
        {22, 4, 22, 11, 22, 2}, {7, 1, 9}, {12, 4, 4}, {3, 3, 0}};
    const auto decoding = model.new_step_model();
    decoding->start(sources);
    std::vector<reference::Marian::Target> targets;
    for (const auto& source : sources) targets.push_back(reference.start(reference.encode(source)));
    for (const auto& tokens : steps) {
      const auto length = static_cast<std::int64_t>(tokens.size() / sources.size());
      const std::span<const float> logits = decoding->step(tokens, length);
      std::vector<reference::Marian::Row> rows;
      for (std::size_t i = 0; i < tokens.size(); ++i)
        rows.push_back({&targets[i / static_cast<std::size_t>(length)], tokens[i]});
      const reference::Matrix expected = reference.decode(rows);
      ASSERT_EQ(static_cast<std::size_t>(expected.size()), logits.size()) << what;
      double worst = 0.0;
      for (std::size_t i = 0; i < logits.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(logits[i]) - expected.data()[i]));
      EXPECT_LT(worst, 5e-5) << what;
    }
  }

  test::TemporaryFolder folder_;
};

TEST_P(MarianGraphs, EqualTheReferenceAtEveryOperatorSet) {
  const RandomCheckpoint random(GetParam());
  const reference::Marian reference(random.get());
  for (std::int64_t opset = 14; opset <= 18; ++opset) {
    const Seq2SeqGraphs graphs = build_graphs(random.get(), {.opset = opset, .report = {}});
    const std::string what = GetParam().name + ", opset " + std::to_string(opset);
    expect_reference(
        *load(graphs, {GraphRole::kEncoder, GraphRole::kDecoder, GraphRole::kDecoderWithPast}),
        reference, what + ", separate decoders");
    expect_reference(*load(graphs, {GraphRole::kEncoder, GraphRole::kDecoderMerged}), reference,
                     what + ", merged decoder");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Variants, MarianGraphs,
    testing::Values(Variant{.name = "tied"},
                    Variant{.name = "computed_positions",
                            .activation = Activation::kGelu,
                            .positions = false,
                            .bias = false},
                    Variant{.name = "own_output_projection",
                            .activation = Activation::kGeluTanh,
                            .tied = false,
                            .scale = false},
                    Variant{.name = "separate_embeddings",
                            .activation = Activation::kRelu,
                            .shared = false,
                            .decoder_vocab_size = 23,
                            .decoder_rows = 23},
                    Variant{.name = "separate_output",
                            .shared = false,
                            .tied = false,
                            .decoder_vocab_size = 23,
                            .decoder_rows = 23},
                    // What transformers makes of a new model with a decoder_vocab_size.
                    Variant{.name = "separate_with_the_sources_rows",
                            .shared = false,
                            .tied = false,
                            .decoder_vocab_size = 23,
                            .decoder_rows = 31}),
    [](const auto& variant) { return variant.param.name; });

TEST(MarianCheckpoint, ATensorThatIsMissingIsNamed) {
  RandomCheckpoint random(Variant{.name = "untied without output", .tied = true});
  random.get().config.tie_word_embeddings = false;
  try {
    build_graphs(random.get(), {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
    EXPECT_NE(std::string(error.what()).find("lm_head.weight"), std::string::npos) << error.what();
  }
}

TEST(MarianCheckpoint, ATensorOfAnotherShapeIsNamedWithBothShapes) {
  RandomCheckpoint random(Variant{.name = "tied"});
  random.get().config.decoder_ffn_dim = 29;
  try {
    build_graphs(random.get(), {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("model.decoder.layers.0.fc1.weight"),
              std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("[28, 24]"), std::string::npos) << error.what();
  }
}

TEST(MarianCheckpoint, ATensorThatNobodyAsksForIsRefused) {
  RandomCheckpoint random(Variant{.name = "tied"});
  random.add("model.encoder.layers.2.fc1.weight", {20, 24});
  try {
    build_graphs(random.get(), {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("model.encoder.layers.2.fc1.weight"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace sampan::architectures
