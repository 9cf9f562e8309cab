#include "translator/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "sampan/error.h"
#include "translator/fake_model.h"

namespace sampan::translator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EngineTest : public ::testing::Test {
 protected:
  std::vector<std::string> texts_of(const std::vector<Translation>& translations) {
    std::vector<std::string> texts;
    for (const Translation& translation : translations) texts.push_back(translation.text);
    return texts;
  }
  Translation translate_one(const Engine& engine, const std::string& text,
                            const std::function<void(TranslateOptions&)>& change = {}) {
    TranslateOptions options = engine.default_options();
    if (change) change(options);
    return engine.translate(std::vector{text}, options).front();
  }
  std::string refusal(const std::function<void()>& call,
                      ErrorCode code = ErrorCode::kInvalidArgument) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    return "accepted";
  }

  FakeModelState state_;
};

TEST_F(EngineTest, GivesResultsInInputOrderWhateverTheBatches) {
  const Engine engine = make_engine(state_);
  const std::vector<std::string> texts = {"one", "seventeen", "", "two", "twelve", "7", "ten"};
  TranslateOptions options = engine.default_options();
  for (const std::size_t batch : {1u, 2u, 3u, 32u}) {
    options.batch_size = batch;
    EXPECT_THAT(texts_of(engine.translate(texts, options)),
                ElementsAre("ONE", "SEVENTEEN", "", "TWO", "TWELVE", "7", "TEN"));
  }
  EXPECT_EQ(state_.widest_batch, 5u);  // the empty text and the number need no model
}

TEST_F(EngineTest, FillsBatchesUpToTheirTokens) {
  const Engine engine = make_engine(state_);
  const std::vector<std::string> texts(10, "four");
  TranslateOptions options = engine.default_options();
  options.batch_tokens = 15;  // "four" and its end are five tokens
  engine.translate(texts, options);
  EXPECT_EQ(state_.widest_batch, 3u);
}

TEST_F(EngineTest, KeepsOneModelForCallAfterCall) {
  const Engine engine = make_engine(state_);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(translate_one(engine, "again").text, "AGAIN");
  EXPECT_EQ(state_.models_made, 1);
}

TEST_F(EngineTest, TranslatesEachSentenceAndSaysWhereItLies) {
  const Engine engine = make_engine(state_);
  const Translation result = translate_one(engine, "  It works. He left.  ");
  EXPECT_EQ(result.text, "  IT WORKS. HE LEFT.  ");
  ASSERT_EQ(result.sentences.size(), 2u);
  EXPECT_EQ(result.sentences[1].source, (ByteRange{12, 20}));
  EXPECT_EQ(result.sentences[1].target, (ByteRange{12, 20}));
  EXPECT_EQ(std::ranges::count(result.tokens, kEos), 2);
}

TEST_F(EngineTest, TranslatesAWholeTextAtOnceWhenAskedTo) {
  const Engine engine = make_engine(state_);
  const Translation result =
      translate_one(engine, "It works. He left.", [](auto& o) { o.split_sentences = false; });
  EXPECT_EQ(result.text, "IT WORKS. HE LEFT.");
  EXPECT_EQ(std::ranges::count(result.tokens, kEos), 1);
  EXPECT_FALSE(result.truncated);
}

TEST_F(EngineTest, ReturnsTextWithoutLettersAsItIs) {
  const Engine engine = make_engine(state_);
  for (const std::string text :
       {"", "   ", "!!!", "12", "7 8 9", "2024-05-01", "\U0001F600 \u2764"}) {
    const Translation result = translate_one(engine, text);
    EXPECT_EQ(result.text, text);
    EXPECT_THAT(result.tokens, IsEmpty());
    EXPECT_EQ(result.score, 0.0);
  }
  EXPECT_EQ(state_.models_made, 0);
}

TEST_F(EngineTest, ReplacesInvalidUtf8) {
  const Engine engine = make_engine(state_);
  EXPECT_EQ(translate_one(engine, "a\xFFz").text, "A\uFFFDZ");
}

TEST_F(EngineTest, MarksATranslationThatRunsIntoTheGuardAndRepeats) {
  const Engine engine = make_engine(state_);
  const Translation guarded = translate_one(engine, "a@");
  EXPECT_TRUE(guarded.truncated);
  EXPECT_TRUE(guarded.repeats);
  EXPECT_EQ(guarded.tokens.size(), 22u);  // 2.5 x 3 + 16, less the start token
  const Translation unguarded =
      translate_one(engine, "a@", [](auto& o) { o.length_guard = false; });
  EXPECT_EQ(unguarded.tokens.size(), 63u);  // the model's positions, less the start token
  const Translation plain = translate_one(engine, "ab");
  EXPECT_FALSE(plain.truncated);
  EXPECT_FALSE(plain.repeats);
}

TEST_F(EngineTest, DoesNotBlameATranslationForARepetitionOfItsSource) {
  const Engine engine = make_engine(state_);
  EXPECT_FALSE(translate_one(engine, "hahahaha").repeats);
}

TEST_F(EngineTest, CutsAWholeTextBeyondThePositionsAndMarksIt) {
  state_.max_positions = 16;
  const Engine engine = make_engine(state_);
  const Translation result = translate_one(engine, "abcdefghijklmnopqrstuvwxyz",
                                           [](auto& o) { o.split_sentences = false; });
  EXPECT_EQ(result.text, "ABCDEFGHIJKLMNO");
  EXPECT_TRUE(result.truncated);
}

// A line of five megabytes without a space took half a minute and a gigabyte to tokenize, only to
// be passed through or cut.
TEST_F(EngineTest, DoesNotTokenizeWhatNoModelCouldRead) {
  state_.max_positions = 16;
  const Engine engine = make_engine(state_);
  const std::string giant(50'000, 'x');
  EXPECT_EQ(translate_one(engine, giant).text, giant);
  EXPECT_LE(state_.longest_tokenized, 4096u);
  const Translation whole =
      translate_one(engine, giant, [](auto& o) { o.split_sentences = false; });
  EXPECT_TRUE(whole.truncated);
  EXPECT_EQ(whole.text, std::string(15, 'X'));
  EXPECT_LE(state_.longest_tokenized, 4096u);
}

TEST_F(EngineTest, SplitsASentenceBeyondThePositionsRatherThanCutIt) {
  state_.max_positions = 16;
  const Engine engine = make_engine(state_);
  const Translation result = translate_one(engine, "abcde fghij klmno pqrst uvwxyz");
  EXPECT_EQ(result.text, "ABCDE FGHIJ KLMNO PQRST UVWXYZ");
  EXPECT_FALSE(result.truncated);
}

TEST_F(EngineTest, StartsEveryTranslationWithThePrefix) {
  const Engine engine = make_engine(state_);
  const Translation result =
      translate_one(engine, "abcdef", [](auto& o) { o.target_prefix = "xy"; });
  EXPECT_EQ(result.text, "xyCDEF");
}

TEST_F(EngineTest, PutsTheTargetLanguageFirst) {
  const Engine engine = make_engine(state_, {"aa", "bb"});
  EXPECT_THAT(engine.target_languages(), ElementsAre("aa", "bb"));
  EXPECT_EQ(translate_one(engine, "one", [](auto& o) { o.target_language = "bb"; }).text, "ONE");
  EXPECT_EQ(translate_one(engine, ">>aa<<one").text, "ONE");
  EXPECT_THAT(
      refusal([&] { translate_one(engine, "one", [](auto& o) { o.target_language = "cc"; }); }),
      HasSubstr("target_language 'cc' is not one of aa, bb"));
  const Engine single = make_engine(state_);
  EXPECT_THAT(
      refusal([&] { translate_one(single, "one", [](auto& o) { o.target_language = "cc"; }); }),
      HasSubstr("the model has one target language"));
}

TEST_F(EngineTest, ForcesTheLanguagesFirstToken) {
  const Engine engine = make_engine(state_, {"aa", "bb"}, /*forces_language=*/true);
  const Translation result =
      translate_one(engine, "one", [](auto& o) { o.target_language = "bb"; });
  EXPECT_EQ(result.tokens.front(), kFirstLanguage + 1);
  EXPECT_THAT(refusal([&] { translate_one(engine, "one"); }),
              HasSubstr("target_language is missing"));
}

TEST_F(EngineTest, CallsBackWithEachTokenInReadingOrder) {
  const Engine engine = make_engine(state_);
  TranslateOptions options = engine.default_options();
  std::string seen;
  options.on_token = [&](std::size_t text, std::string_view piece) {
    seen += std::to_string(text);
    seen += piece;
  };
  engine.translate(std::vector<std::string>{"ab", "1", "Hi. Bye."}, options);
  EXPECT_EQ(seen, "0A0B0</s>2H2I2.2</s>2B2Y2E2.2</s>");
  options.generation.num_beams = 2;
  EXPECT_THAT(refusal([&] { engine.translate(std::vector<std::string>{"ab"}, options); }),
              HasSubstr("num_beams 2"));
}

TEST_F(EngineTest, GivesSeveralCandidatesBestFirst) {
  const Engine engine = make_engine(state_);
  TranslateOptions options = engine.default_options();
  options.generation.num_beams = 4;
  options.generation.num_return_sequences = 3;
  const std::vector<std::string> texts = {"One. Two.", "12"};
  const auto results = engine.translate_n_best(texts, options);
  ASSERT_EQ(results.size(), 2u);
  ASSERT_EQ(results[0].size(), 3u);
  EXPECT_EQ(results[0][0].text, "ONE. TWO.");
  EXPECT_GE(results[0][0].score, results[0][1].score);
  EXPECT_GE(results[0][1].score, results[0][2].score);
  ASSERT_EQ(results[1].size(), 1u);
  EXPECT_EQ(results[1][0].text, "12");
  EXPECT_EQ(engine.translate(texts, options)[0].text, "ONE. TWO.");
}

TEST_F(EngineTest, ScoresGivenTranslations) {
  const Engine engine = make_engine(state_);
  const std::vector<std::string> sources = {"ab", "c"};
  const std::vector<std::string> targets = {"AB", "X"};
  const auto scores = engine.score(sources, targets, engine.default_options());
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_THAT(scores[0].tokens, ElementsAre(token_of('A'), token_of('B'), kEos));
  ASSERT_EQ(scores[0].log_probs.size(), 3u);
  for (const float log_prob : scores[0].log_probs) EXPECT_NEAR(log_prob, 0.0, 1e-3);
  EXPECT_NEAR(scores[1].log_probs[0], -20.0, 1e-3);
  EXPECT_NEAR(scores[1].log_probs[1], 0.0, 1e-3);
  EXPECT_THAT(refusal([&] { engine.score(sources, {}, engine.default_options()); }),
              HasSubstr("2 sources but 0 targets"));
}

TEST_F(EngineTest, TellsEveryProblemBeforeAnythingRuns) {
  const Engine engine = make_engine(state_);
  TranslateOptions options = engine.default_options();
  options.batch_size = 0;
  options.generation.num_beams = 2;
  options.generation.num_return_sequences = 3;
  options.generation.max_length = 65;
  const std::string message =
      refusal([&] { engine.translate(std::vector<std::string>{"a"}, options); });
  EXPECT_THAT(message, HasSubstr("batch_size is 0"));
  EXPECT_THAT(message, HasSubstr("num_return_sequences"));
  EXPECT_EQ(state_.models_made, 0);
  options = engine.default_options();
  options.generation.max_length = 65;
  EXPECT_THAT(refusal([&] { engine.translate(std::vector<std::string>{"a"}, options); }),
              HasSubstr("max_length is 65, but the model has 64 positions"));
  EXPECT_THAT(refusal([&] {
                translate_one(engine, "a", [](auto& o) { o.target_prefix = std::string(63, 'x'); });
              }),
              HasSubstr("target_prefix has 63 tokens"));
}

TEST_F(EngineTest, StopsWhenAskedTo) {
  const Engine engine = make_engine(state_);
  std::stop_source stop;
  state_.before_step = [&] { stop.request_stop(); };
  refusal([&] { translate_one(engine, "a@", [&](auto& o) { o.stop = stop.get_token(); }); },
          ErrorCode::kCancelled);
}

TEST_F(EngineTest, StopsAtTheDeadline) {
  const Engine engine = make_engine(state_);
  refusal([&] { translate_one(engine, "a@", [](auto& o) { o.deadline.emplace(); }); },
          ErrorCode::kDeadlineExceeded);
}

TEST_F(EngineTest, DropsAModelWhoseSearchFailed) {
  const Engine engine = make_engine(state_);
  state_.before_step = [] { throw Error(ErrorCode::kInternal, "the model failed"); };
  EXPECT_EQ(refusal([&] { translate_one(engine, "a"); }, ErrorCode::kInternal), "the model failed");
  state_.before_step = {};
  EXPECT_EQ(translate_one(engine, "a").text, "A");
  EXPECT_EQ(state_.models_made, 2);
}

}  // namespace
}  // namespace sampan::translator
