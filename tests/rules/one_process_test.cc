#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "graph/model.h"
#include "graph/onnx_reader.h"
#include "session/packages.h"
#include "session/sequence_model.h"
#include "support/folders.h"
#include "text/tokenizer.h"

namespace sampan {
namespace {

// libsentencepiece exports a protobuf of its own: beside another one, which ONNX files are often
// read with, a process dies before main. Here all three kinds of file are open at once.
TEST(OneProcess, OpensATokenizerAGraphAndASession) {
  const auto folder = std::filesystem::path(kSourceFolder) / "models" / "tatoeba-en-zh";
  const package::Package package = session::fixture_package("merged");

  const auto tokenizer = text::open_tokenizer(folder, "marian");
  const graph::Model model =
      graph::read_model_file(package.graphs.at(package::GraphRole::kEncoder));
  const auto sequence_model = session::SequenceModel::load(package, {});

  EXPECT_THAT(tokenizer->encode("Good morning.", ""), testing::SizeIs(testing::Gt(1)));
  EXPECT_THAT(model.graph.nodes, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(sequence_model->new_step_model(), testing::NotNull());
}

}  // namespace
}  // namespace sampan
