#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <thread>
#include <vector>

#include "translator/engine.h"
#include "translator/fake_model.h"

namespace sampan::translator {
namespace {

std::string capitals(std::string text) {
  for (char& byte : text) byte = static_cast<char>(std::toupper(byte));
  return text;
}

TEST(EngineThreads, ShareOneEngineAndGetTheirOwnResults) {
  FakeModelState state;
  const Engine engine = make_engine(state);
  constexpr std::size_t kThreads = 8;
  std::vector<std::vector<std::string>> texts(kThreads);
  std::vector<std::vector<Translation>> results(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t at = 0; at < kThreads; ++at) {
    for (int i = 0; i < 20; ++i)
      texts[at].push_back("thread " + std::string(static_cast<std::size_t>(i % 7), 'x') + " word " +
                          std::to_string(at));
    threads.emplace_back([&, at] {
      TranslateOptions options = engine.default_options();
      options.batch_size = 1 + at;
      for (int round = 0; round < 5; ++round) results[at] = engine.translate(texts[at], options);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t at = 0; at < kThreads; ++at)
    for (std::size_t i = 0; i < texts[at].size(); ++i)
      EXPECT_EQ(results[at][i].text, capitals(texts[at][i]));
  EXPECT_LE(state.models_made, static_cast<int>(kThreads));
}

}  // namespace
}  // namespace sampan::translator
