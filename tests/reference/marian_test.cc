#include "reference/marian.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/safetensors.h"
#include "sampan/error.h"
#include "support/folders.h"

namespace sampan::reference {
namespace {

const std::filesystem::path kData = std::filesystem::path(kSourceFolder) / "tests/data/reference";
// The golden values were computed in float64 too; only the order of sums differs.
constexpr double kTolerance = 1e-11;

/// golden.safetensors of a variant, by name.
class Golden {
 public:
  explicit Golden(const std::string& variant) : file_(kData / variant / "golden.safetensors") {
    checkpoint::read_safetensors(file_.bytes(), file_.path(), store_);
  }

  Matrix matrix(const std::string& name) const {
    const tensor::TensorView* view = store_.find(name);
    if (view == nullptr || view->shape.size() != 2) throw std::runtime_error("no golden " + name);
    Matrix result(view->shape[0], view->shape[1]);
    std::memcpy(result.data(), view->data.data(), view->data.size());
    return result;
  }

  std::vector<std::int64_t> ids(const std::string& name) const {
    const tensor::TensorView* view = store_.find(name);
    if (view == nullptr) throw std::runtime_error("no golden " + name);
    std::vector<std::int64_t> result(view->data.size() / sizeof(std::int64_t));
    std::memcpy(result.data(), view->data.data(), view->data.size());
    return result;
  }

 private:
  base::MappedFile file_;
  checkpoint::TensorStore store_;
};

/// Collects what an observer is told.
struct Recording {
  std::map<std::string, Matrix> values;
  Observer observer() {
    return
        [this](std::string_view name, const Matrix& value) { values[std::string(name)] = value; };
  }
};

double difference(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return 1e300;
  return (a - b).cwiseAbs().maxCoeff();
}

class MarianVariant : public testing::TestWithParam<std::string> {
 protected:
  MarianVariant() : golden_(GetParam()), model_(checkpoint::open_checkpoint(kData / GetParam())) {}

  std::vector<Marian::Row> rows(Marian::Target& target) const {
    std::vector<Marian::Row> result;
    for (const std::int64_t token : golden_.ids("target")) result.push_back({&target, token});
    return result;
  }

  Golden golden_;
  Marian model_;
};

TEST_P(MarianVariant, EveryEncoderLayerEqualsTransformers) {
  Recording seen;
  const Matrix states = model_.encode(golden_.ids("source"), seen.observer());
  EXPECT_LT(difference(seen.values.at("encoder.embedding"), golden_.matrix("encoder.0")), 1e-6)
      << "positions are stored as floats there and computed in double here";
  EXPECT_LT(
      difference(seen.values.at("encoder.layers.0.final_layer_norm"), golden_.matrix("encoder.1")),
      1e-6);
  EXPECT_LT(difference(states, golden_.matrix("encoder.2")), 1e-6);
}

TEST_P(MarianVariant, EveryDecoderLayerAndTheLogitsEqualTransformers) {
  Marian::Target target = model_.start(golden_.matrix("encoder.2"));
  Recording seen;
  const Matrix logits = model_.decode(rows(target), seen.observer());
  for (int layer = 0; layer < 3; ++layer) {
    const std::string name = "decoder.layers." + std::to_string(layer) + ".final_layer_norm";
    EXPECT_LT(
        difference(seen.values.at(name), golden_.matrix("decoder." + std::to_string(layer + 1))),
        1e-6)
        << name;
  }
  EXPECT_LT(difference(logits, golden_.matrix("logits")), 1e-6);
}

TEST_P(MarianVariant, ComputesOnWithWhatAnObserverPutsInPlaceOfAValue) {
  const std::vector<std::int64_t> ids = golden_.ids("source");
  Matrix replaced;
  const Matrix states = model_.encode(ids, [&](std::string_view name, Matrix& value) {
    if (name == "encoder.layers.1.final_layer_norm.input") {
      value.setZero();
      value.col(0).setOnes();
    }
    if (name == "encoder.layers.1.final_layer_norm") replaced = value;
  });
  EXPECT_EQ(difference(states, replaced), 0.0);
  EXPECT_GT(difference(states, model_.encode(ids)), 0.1);
  EXPECT_EQ(difference(states.topRows(1), states.bottomRows(1)), 0.0);
}

TEST_P(MarianVariant, TheCachesEqualTransformers) {
  Marian::Target target = model_.start(golden_.matrix("encoder.2"));
  model_.decode(rows(target));
  for (std::size_t i = 0; i < target.layers.size(); ++i) {
    const Marian::LayerCache& cache = target.layers[i];
    const std::string layer = std::to_string(i);
    EXPECT_LT(difference(cache.self_key, golden_.matrix("self." + layer + ".keys")), 1e-6);
    EXPECT_LT(difference(cache.self_value, golden_.matrix("self." + layer + ".values")), 1e-6);
    EXPECT_LT(difference(cache.cross_key, golden_.matrix("cross." + layer + ".keys")), kTolerance);
    EXPECT_LT(difference(cache.cross_value, golden_.matrix("cross." + layer + ".values")),
              kTolerance);
  }
}

TEST_P(MarianVariant, TokenByTokenEqualsTheWholeTargetAndTransformers) {
  const Matrix states = golden_.matrix("encoder.2");
  Marian::Target whole = model_.start(states), grown = model_.start(states);
  const Matrix at_once = model_.decode(rows(whole));
  const Matrix expected = golden_.matrix("step_logits");
  const std::vector<Marian::Row> steps = rows(grown);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Matrix logits = model_.decode(std::span(&steps[i], 1));
    const auto row = static_cast<Index>(i);
    EXPECT_LT(difference(logits, at_once.row(row)), kTolerance);
    EXPECT_LT(difference(logits, expected.row(row)), 1e-6);
  }
}

TEST_P(MarianVariant, TargetsFedSideBySideDoNotSeeEachOther) {
  const Matrix states = golden_.matrix("encoder.2");
  Marian::Target alone = model_.start(states), first = model_.start(states),
                 second = model_.start(states);
  const Matrix expected = model_.decode(rows(alone));
  const std::vector<std::int64_t> ids = golden_.ids("target");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::vector<Marian::Row> pair = {{&second, ids[0]}, {&first, ids[i]}};
    const Matrix logits = model_.decode(pair);
    EXPECT_LT(difference(logits.row(1), expected.row(static_cast<Index>(i))), kTolerance);
  }
}

TEST_P(MarianVariant, RefusesIdsOutsideTheVocabularyAndSourcesTooLong) {
  EXPECT_THROW(model_.encode(std::vector<std::int64_t>{-1}), Error);
  EXPECT_THROW(model_.encode(std::vector<std::int64_t>{37}), Error);
  EXPECT_THROW(model_.encode(std::vector<std::int64_t>(25, 1)), Error);
}

INSTANTIATE_TEST_SUITE_P(Variants, MarianVariant, testing::Values("tied", "separate"),
                         [](const auto& variant) { return variant.param; });

}  // namespace
}  // namespace sampan::reference
