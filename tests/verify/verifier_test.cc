#include "verify/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "sampan/error.h"
#include "sampan/exporter.h"
#include "sampan/translator.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::verify {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kSource = kSourceFolder;
const fs::path kMarian = kSource / "models/tatoeba-en-zh";
const fs::path kM2M100 = kSource / "tests/data/m2m100/checkpoint";

const Check& find(const Report& report, const std::string& name) {
  const auto found = std::ranges::find(report.checks, name, &Check::name);
  if (found == report.checks.end()) throw std::runtime_error("no check " + name);
  return *found;
}

void flip_last_byte(const fs::path& file) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekg(-1, std::ios::end);
  const int byte = stream.get();
  stream.seekp(-1, std::ios::end);
  stream.put(static_cast<char>(byte ^ 1));
}

class VerifierTest : public ::testing::Test {
 protected:
  fs::path exported(const fs::path& checkpoint) {
    export_checkpoint(checkpoint, package_);
    return package_;
  }

  test::TemporaryFolder folder_;
  fs::path package_ = folder_ / "package";
};

TEST_F(VerifierTest, PassesAPackageThatDoesWhatItsCheckpointDoes) {
  VerifyOptions options;
  options.lines = {"Hello.", "Where is the station?"};
  options.longest_position = false;
  std::size_t told = 0;
  options.progress = [&](std::string_view) { ++told; };
  const Report report = verify_package(exported(kMarian), kMarian, options);
  EXPECT_EQ(report.verdict(), Outcome::kPassed) << format_text(report);
  EXPECT_EQ(report.lines, 2U);
  EXPECT_EQ(report.manifest_sha256.size(), 64U);
  EXPECT_GT(told, 5U);
  for (const char* form : {"separate", "merged"})
    for (const char* part :
         {".first_logits", ".first_caches", ".no_past_logits", ".later_logits", ".later_caches"}) {
      const std::string name = form + std::string(part);
      const Check& check = find(report, name);
      // Something was compared, and float is not double.
      EXPECT_GT(check.figure.value(), 0.0) << check.name;
    }
  for (const char* name : {"files", "source", "graph.encoder_model", "encoder.states", "finite",
                           "greedy.tokens", "beam.tokens", "beam.padding", "greedy.repeats"})
    EXPECT_EQ(find(report, name).outcome, Outcome::kPassed) << name;
}

// A package of many languages was called faulty where nobody had said into which one to translate.
TEST_F(VerifierTest, WantsATargetLanguageWhereThereAreSeveral) {
  VerifyOptions options;
  options.latency_runs = 2;
  const Error error =
      test::caught_error([&] { verify_package(exported(kM2M100), kM2M100, options); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("--target-language"));
  options.target_language = Translator::load(package_).target_languages().front();
  const Report report = verify_package(package_, kM2M100, options);
  EXPECT_EQ(report.verdict(), Outcome::kNotChecked) << format_text(report);
  EXPECT_EQ(report.latency.value().runs, 2U);
}

TEST_F(VerifierTest, SaysThatAFamilyWithoutAReferenceWasNotCompared) {
  const Report report = verify_package(exported(kM2M100), kM2M100);
  EXPECT_EQ(report.verdict(), Outcome::kNotChecked);
  EXPECT_EQ(find(report, "files").outcome, Outcome::kPassed);
  EXPECT_EQ(find(report, "graphs").outcome, Outcome::kNotChecked);
  EXPECT_THAT(find(report, "graphs").detail, HasSubstr("no reference for the family 'm2m_100'"));
}

TEST_F(VerifierTest, FindsAFileThatChangedSinceTheExport) {
  flip_last_byte(exported(kM2M100) / "vocab.json");
  const Report report = verify_package(package_, kM2M100);
  EXPECT_EQ(report.verdict(), Outcome::kFailed);
  EXPECT_THAT(find(report, "files").detail, HasSubstr("vocab.json"));
}

TEST_F(VerifierTest, FindsThatAPackageWasMadeFromAnotherCheckpoint) {
  const fs::path other = folder_ / "other";
  fs::copy(kM2M100, other);
  flip_last_byte(other / "model.safetensors");
  const Report report = verify_package(exported(kM2M100), other);
  EXPECT_EQ(find(report, "source").outcome, Outcome::kFailed);
  EXPECT_THAT(find(report, "source").detail, HasSubstr("model.safetensors"));
}

TEST_F(VerifierTest, DamagedGraphsAreFindingsAndNotTheEnd) {
  const fs::path encoder = exported(kM2M100) / "encoder_model.onnx";
  const auto size = fs::file_size(encoder);
  std::ofstream(encoder, std::ios::binary) << "<!doctype html>" + std::string(size - 15, ' ');
  const Report report = verify_package(package_, kM2M100);
  EXPECT_EQ(find(report, "files").outcome, Outcome::kFailed);
  EXPECT_EQ(find(report, "graph.encoder_model").outcome, Outcome::kFailed);
  EXPECT_EQ(find(report, "graph.decoder_model").outcome, Outcome::kPassed);
}

TEST_F(VerifierTest, WhatIsNotThereIsAnErrorAndNoReport) {
  EXPECT_EQ(test::caught_error([&] { verify_package(folder_ / "none", kMarian); }).code(),
            ErrorCode::kNotFound);
  exported(kM2M100);
  EXPECT_EQ(test::caught_error([&] { verify_package(package_, folder_ / "none"); }).code(),
            ErrorCode::kNotFound);
}

TEST_F(VerifierTest, FindsAWrongDecoderStart) {
  const fs::path file = exported(kMarian) / "generation_config.json";
  std::string text = test::content_of(file);
  const std::string key = "\"decoder_start_token_id\": 9820";
  ASSERT_NE(text.find(key), std::string::npos) << text;
  text.replace(text.find(key), key.size(), "\"decoder_start_token_id\": 9810");
  std::ofstream(file, std::ios::binary) << text;
  VerifyOptions options;
  options.lines = {"Hello."};
  options.longest_position = false;
  const Report report = verify_package(package_, kMarian, options);
  EXPECT_THAT(find(report, "special_tokens").detail,
              HasSubstr("decoder_start_token_id is 9810, the checkpoint's 9820"));
  EXPECT_TRUE(report.places.empty());
}

TEST_F(VerifierTest, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  VerifyOptions options;
  options.stop = stop.get_token();
  exported(kMarian);
  EXPECT_EQ(test::caught_error([&] { verify_package(package_, kMarian, options); }).code(),
            ErrorCode::kCancelled);
}

}  // namespace
}  // namespace sampan::verify
