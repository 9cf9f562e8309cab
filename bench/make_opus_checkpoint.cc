// Writes a checkpoint of opus-mt-en-zh's dimensions with random weights, in the layout and the
// container of the published one (torch's older stream), so that size, memory and speed can be
// measured without it. Its translations mean nothing.
//
//   sampan_make_opus_checkpoint TATOEBA_EN_ZH FOLDER
//
// The tokenizer is that of the bundled checkpoint TATOEBA_EN_ZH, grown to 32,000 pieces a side and
// 65,001 vocabulary entries.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kVocabulary = 65001, kWidth = 512, kFeedForward = 2048, kPositions = 512;
constexpr std::int64_t kPad = kVocabulary - 1;
constexpr int kLayers = 6;
constexpr std::size_t kPieces = 32000;

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string storage;  // torch's key; several tensors may show one storage

  std::int64_t elements() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    return count;
  }
};

std::vector<Tensor> opus_tensors() {
  std::vector<Tensor> tensors;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
    tensors.push_back({name, std::move(shape), std::to_string(tensors.size())});
  };
  const auto add_linear = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  };
  const auto add_norm = [&](const std::string& name) {
    add(name + ".weight", {kWidth});
    add(name + ".bias", {kWidth});
  };
  const auto add_attention = [&](const std::string& name) {
    for (const char* part : {"k_proj", "v_proj", "q_proj", "out_proj"})
      add_linear(name + "." + part, kWidth, kWidth);
    add_norm(name + "_layer_norm");
  };
  add("final_logits_bias", {1, kVocabulary});
  add("model.shared.weight", {kVocabulary, kWidth});
  const std::string shared = tensors.back().storage;
  for (const std::string stack : {"encoder", "decoder"}) {
    tensors.push_back({"model." + stack + ".embed_tokens.weight", {kVocabulary, kWidth}, shared});
    add("model." + stack + ".embed_positions.weight", {kPositions, kWidth});
    for (int i = 0; i < kLayers; ++i) {
      const std::string layer = "model." + stack + ".layers." + std::to_string(i);
      add_attention(layer + ".self_attn");
      if (stack == "decoder") add_attention(layer + ".encoder_attn");
      add_linear(layer + ".fc1", kFeedForward, kWidth);
      add_linear(layer + ".fc2", kWidth, kFeedForward);
      add_norm(layer + ".final_layer_norm");
    }
  }
  return tensors;
}

bool ends_with(const std::string& name, std::string_view end) { return name.ends_with(end); }

std::vector<float> random_values(const Tensor& tensor, std::mt19937& generator) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  if (ends_with(tensor.name, "embed_positions.weight")) {
    for (std::int64_t position = 0; position < kPositions; ++position)
      for (std::int64_t k = 0; k < kWidth / 2; ++k) {
        const double angle = static_cast<double>(position) /
                             std::pow(10000.0, 2.0 * static_cast<double>(k) / kWidth);
        const auto row = static_cast<std::size_t>(position * kWidth);
        values[row + static_cast<std::size_t>(k)] = static_cast<float>(std::sin(angle));
        values[row + static_cast<std::size_t>(k + kWidth / 2)] = static_cast<float>(std::cos(angle));
      }
    return values;
  }
  const float spread = tensor.shape.size() == 2 ? 0.04f : 0.02f;
  const float centre = ends_with(tensor.name, "layer_norm.weight") ? 1.0f : 0.0f;
  std::normal_distribution<float> normal(centre, spread);
  for (float& value : values) value = normal(generator);
  // The converter of the published checkpoints adds <pad> as a row of zeros.
  if (tensor.name == "model.shared.weight")
    std::fill(values.end() - kWidth, values.end(), 0.0f);
  if (tensor.name == "final_logits_bias") values.back() = 0.0f;
  return values;
}

/// A pickle of protocol 2, put together opcode by opcode.
class PickleWriter {
 public:
  PickleWriter() : bytes_("\x80\x02") {}

  PickleWriter& op(std::string_view opcodes) {
    bytes_ += opcodes;
    return *this;
  }
  PickleWriter& global(const std::string& module, const std::string& name) {
    return op("c" + module + "\n" + name + "\n");
  }
  PickleWriter& text(const std::string& value) {
    return op("X" + little_endian(value.size(), 4) + value);
  }
  PickleWriter& integer(std::int64_t value) {
    return op("J" + little_endian(static_cast<std::uint64_t>(value), 4));
  }
  PickleWriter& integers(const std::vector<std::int64_t>& values) {
    op("(");
    for (const std::int64_t value : values) integer(value);
    return op("t");
  }
  PickleWriter& empty_ordered_dict() { return global("collections", "OrderedDict").op(")R"); }
  std::string finish() { return bytes_ + "."; }

  static std::string little_endian(std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
    return out;
  }

 private:
  std::string bytes_;
};

std::string pickle_tensors(const std::vector<Tensor>& tensors) {
  PickleWriter pickle;
  pickle.empty_ordered_dict().op("(");
  for (const Tensor& tensor : tensors) {
    std::vector<std::int64_t> strides(tensor.shape.size(), 1);
    for (std::size_t axis = strides.size(); axis-- > 1;)
      strides[axis - 1] = strides[axis] * tensor.shape[axis];
    pickle.text(tensor.name).global("torch._utils", "_rebuild_tensor_v2").op("((");
    pickle.text("storage").global("torch", "FloatStorage").text(tensor.storage).text("cpu");
    pickle.integer(tensor.elements()).op("NtQ").integer(0);
    pickle.integers(tensor.shape).integers(strides).op("\x89").empty_ordered_dict().op("tR");
  }
  return pickle.op("u").finish();
}

void write_weights(const fs::path& path) {
  const std::vector<Tensor> tensors = opus_tensors();
  std::ofstream file(path, std::ios::binary);
  file << PickleWriter().op(std::string("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 12)).finish();
  file << PickleWriter().integer(1001).finish();
  PickleWriter system;
  system.op("}(").text("protocol_version").integer(1001).text("little_endian").op("\x88");
  system.text("type_sizes").op("}(").text("short").integer(2).text("int").integer(4);
  file << system.text("long").integer(4).op("uu").finish();
  file << pickle_tensors(tensors);

  PickleWriter keys;
  keys.op("](");
  std::vector<const Tensor*> stored;
  for (const Tensor& tensor : tensors)
    if (!ends_with(tensor.name, "embed_tokens.weight")) stored.push_back(&tensor);
  for (const Tensor* tensor : stored) keys.text(tensor->storage);
  file << keys.op("e").finish();
  std::mt19937 generator(65001);
  for (const Tensor* tensor : stored) {
    const std::vector<float> values = random_values(*tensor, generator);
    file << PickleWriter::little_endian(values.size(), 8);
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// How many SentencePiece messages (field 1) a model has at its top level.
std::size_t count_pieces(const std::string& model) {
  std::size_t count = 0, at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; at < model.size(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(model[at++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < model.size()) {
    const std::uint64_t tag = varint();
    if ((tag & 7) != 2) throw std::runtime_error("unexpected field in the SentencePiece model");
    at += varint();
    if (tag >> 3 == 1) ++count;
  }
  return count;
}

/// Grows a model to `kPieces` pieces: a repeated field goes on wherever it comes again.
std::vector<std::string> write_grown_model(const fs::path& from, const fs::path& to,
                                           const std::string& stem) {
  std::string model = read_file(from);
  std::vector<std::string> added;
  for (std::size_t i = count_pieces(model); i < kPieces; ++i) {
    const std::string piece = "\u2581" + stem + std::to_string(i);
    std::string message = "\x0a" + std::string(1, static_cast<char>(piece.size())) + piece;
    const float score = -12.0f - static_cast<float>(i) * 1e-4f;
    message += "\x15" + std::string(reinterpret_cast<const char*>(&score), sizeof score);
    model += "\x0a" + std::string(1, static_cast<char>(message.size())) + message;
    added.push_back(piece);
  }
  std::ofstream(to, std::ios::binary) << model;
  return added;
}

void write_tokenizer(const fs::path& bundled, const fs::path& folder) {
  const auto old = nlohmann::json::parse(read_file(bundled / "vocab.json"));
  std::vector<std::string> entries(old.size());
  for (const auto& [piece, id] : old.items()) entries[id.get<std::size_t>()] = piece;
  std::erase(entries, "<pad>");
  for (const char* code : {">>cmn_Hans<<", ">>cmn_Hant<<", ">>yue_Hans<<"}) entries.push_back(code);
  for (const char* side : {"source", "target"}) {
    const std::string name = std::string(side) + ".spm";
    const auto added = write_grown_model(bundled / name, folder / name, side);
    entries.insert(entries.end(), added.begin(), added.end());
  }
  for (std::size_t i = 0; entries.size() < static_cast<std::size_t>(kPad); ++i)
    entries.push_back("filler" + std::to_string(i));
  entries.resize(static_cast<std::size_t>(kPad));
  entries.push_back("<pad>");
  nlohmann::ordered_json vocabulary;
  for (std::size_t id = 0; id < entries.size(); ++id) vocabulary[entries[id]] = id;
  std::ofstream(folder / "vocab.json") << vocabulary.dump(0);
  std::ofstream(folder / "tokenizer_config.json")
      << nlohmann::json{{"source_lang", "eng"}, {"target_lang", "zho"}}.dump();
}

void write_configs(const fs::path& bundled, const fs::path& folder) {
  auto config = nlohmann::json::parse(read_file(bundled / "config.json"));
  for (const char* stack : {"encoder", "decoder"}) {
    config[std::string(stack) + "_layers"] = kLayers;
    config[std::string(stack) + "_attention_heads"] = 8;
    config[std::string(stack) + "_ffn_dim"] = kFeedForward;
  }
  config["num_hidden_layers"] = kLayers;
  config["d_model"] = kWidth;
  config["vocab_size"] = config["decoder_vocab_size"] = kVocabulary;
  config["torch_dtype"] = "float32";
  auto generation = nlohmann::json::parse(read_file(bundled / "generation_config.json"));
  for (nlohmann::json* file : {&config, &generation}) {
    (*file)["pad_token_id"] = (*file)["decoder_start_token_id"] = kPad;
    (*file)["bad_words_ids"] = {{kPad}};
  }
  std::ofstream(folder / "config.json") << config.dump(2) << "\n";
  std::ofstream(folder / "generation_config.json") << generation.dump(2) << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: sampan_make_opus_checkpoint TATOEBA_EN_ZH FOLDER\n";
    return EXIT_FAILURE;
  }
  try {
    const fs::path bundled = argv[1], folder = argv[2];
    fs::create_directories(folder);
    write_configs(bundled, folder);
    write_tokenizer(bundled, folder);
    write_weights(folder / "pytorch_model.bin");
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "sampan_make_opus_checkpoint: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
