#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cli/program.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::cli {
namespace {

using test::content_of;
using test::TemporaryFolder;

using namespace std::string_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

Outcome translate(const std::string& input, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"translate", test_package(), "--greedy", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(std::move(arguments), {.input = input});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

long line_breaks(const std::string& text) { return std::ranges::count(text, '\n'); }

std::uintmax_t size_of(const std::string& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

TEST(Translate, TranslatesLineByLine) {
  const Outcome outcome = translate("Good morning.\nMy name is Tom.\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "早上好。\n我叫汤姆。\n");
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(Translate, KeepsTheShapeOfItsInput) {
  EXPECT_EQ(translate("").out, "");
  EXPECT_EQ(translate("\n").out, "\n");
  EXPECT_EQ(translate("Good morning.").out, "早上好。");
  EXPECT_EQ(translate("Good morning.\r\n\r\nGood morning.").out, "早上好。\r\n\r\n早上好。");
  EXPECT_EQ(translate("\xEF\xBB\xBFGood morning.\n").out, "早上好。\n");
  EXPECT_EQ(translate("  Good morning.\t\n").out, "  早上好。\t\n");
}

TEST(Translate, GivesOneLineForEachOfANastyInput) {
  const std::string giant = [] {
    std::string text;
    while (text.size() < 200'000) text += "7 8 9 !!! ";
    return text;
  }();
  const std::vector<std::string> lines = {
      "Hello.",          "",         "   ",         "!!!",        "12",
      "a\0b"s,           "\0"s,      "\xFF\xFE",    "tab\there",  "\xE2\x80\xA8",
      "one\rtwo",        "\x0B\x0C", "\u0085",      "\U0001F600", "'\"\\",
      "Hi.\xE3\x80\x80", giant,      ">>cmn<< Hi.", "</s> <pad>", std::string(3000, 'x')};
  std::string input;
  for (const std::string& line : lines) input += line + "\n";
  const Outcome outcome = translate(input);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(line_breaks(outcome.out), static_cast<long>(lines.size()));
  const std::vector<std::string> out = lines_of(outcome.out);
  ASSERT_EQ(out.size(), lines.size());
  EXPECT_EQ(out[1], "");
  EXPECT_EQ(out[2], "   ");
  EXPECT_EQ(out[3], "!!!");
  EXPECT_EQ(out[4], "12");
  EXPECT_EQ(out[13], "\U0001F600");
  EXPECT_EQ(out[16], giant);
  EXPECT_EQ(out[19], lines[19]);  // a run of letters that no cut makes short enough
  for (const std::size_t sentence : {0u, 5u, 10u, 15u}) EXPECT_NE(out[sentence], "") << sentence;
}

TEST(Translate, ReadsFilesOneAfterAnother) {
  const TemporaryFolder folder;
  const std::string one = folder.write("no final line break", "Good morning.").string();
  const std::string two = folder.write("zwei-\u00e4\u4f60", "My name is Tom.\n").string();
  EXPECT_EQ(translate("", {one, two}).out, "早上好。\n我叫汤姆。\n");
  EXPECT_EQ(translate("Good morning.\n", {two, "-"}).out, "我叫汤姆。\n早上好。\n");
}

TEST(Translate, FindsAFileThatIsNotThereBeforeItTranslates) {
  const TemporaryFolder folder;
  const std::string one = folder.write("one", "Good morning.\n").string();
  const Outcome outcome = translate("", {one, folder / "absent"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]*absent[^\n]*\n"));
  EXPECT_EQ(translate("", {folder.path()}).status, 2);
}

TEST(Translate, CountsInvalidUtf8AndWarnsOnce) {
  const Outcome outcome =
      run_program({"translate", test_package(), "--greedy"}, {.input = "\xFF\xFE\n7\n\xE4\xBD\n"});
  EXPECT_EQ(outcome.out, "\uFFFD\uFFFD\n7\n\uFFFD\n");
  EXPECT_THAT(outcome.err, HasSubstr("sampan: warning: 3 sequences of invalid UTF-8 in 2 lines"));
  EXPECT_THAT(outcome.err, HasSubstr("sampan: 3 lines, "));
  EXPECT_EQ(line_breaks(outcome.err), 2);
}

TEST(Translate, WritesOneJsonObjectALine) {
  const Outcome outcome = translate("Good morning. My name is Tom.\n12\r\n\xFF", {"--json"});
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 3u);
  const Json first = Json::parse(lines[0]);
  EXPECT_EQ(first["source"], "Good morning. My name is Tom.");
  EXPECT_EQ(first["translation"], "早上好。我叫汤姆。");
  EXPECT_EQ(first["sentences"], Json::parse(R"([{"source":[0,13],"target":[0,12]},
                                                {"source":[14,29],"target":[12,27]}])"));
  EXPECT_EQ(first["tokens"].back(), 0);
  EXPECT_LT(first["score"], 0.0);
  EXPECT_EQ(first["truncated"], false);
  EXPECT_EQ(first["repeats"], false);
  const Json second = Json::parse(lines[1]);
  EXPECT_EQ(second["translation"], "12");
  EXPECT_EQ(second["tokens"], Json::array());
  EXPECT_EQ(Json::parse(lines[2])["source"], "\uFFFD");
}

TEST(Translate, ListsSeveralTranslationsInJsonAlone) {
  std::vector<std::string> arguments = {
      "translate", test_package(),           "--quiet", "--num-beams",
      "3",         "--num-return-sequences", "3",       "--json"};
  const ProgramOptions input{.input = "Good morning.\n"};
  const Json line = Json::parse(run_program(arguments, input).out);
  ASSERT_EQ(line["alternatives"].size(), 3u);
  EXPECT_EQ(line["alternatives"][0]["translation"], line["translation"]);
  EXPECT_GE(line["alternatives"][0]["score"], line["alternatives"][1]["score"]);
  arguments.pop_back();
  const Outcome outcome = run_program(arguments, input);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("add --json"));
}

TEST(Translate, StreamsTokensAsJson) {
  const Outcome outcome = translate("Good morning.\n7\nGood morning.\n", {"--json", "--stream"});
  std::string streamed;
  std::vector<Json> results;
  for (const std::string& line : lines_of(outcome.out)) {
    const Json object = Json::parse(line);
    if (object.contains("piece"))
      streamed += object["line"].dump() + object["piece"].get<std::string>() + " ";
    else
      results.push_back(object);
  }
  ASSERT_EQ(results.size(), 3u);
  EXPECT_THAT(streamed, StartsWith("1"));
  EXPECT_THAT(streamed, HasSubstr(" 3"));
  EXPECT_THAT(streamed, Not(HasSubstr("2")));
}

TEST(Translate, GivesTheSameWhateverTheWorkersAndBatches) {
  const std::string input = content_of(std::string(kSourceFolder) + "/examples/sentences.en");
  const std::string expected = translate(input).out;
  EXPECT_EQ(line_breaks(expected), line_breaks(input));
  EXPECT_EQ(translate(input, {"--workers", "3", "--batch-size", "2"}).out, expected);
  EXPECT_EQ(translate(input, {"--batch-tokens", "1", "--threads", "1"}).out, expected);
}

TEST(Translate, RefusesContradictionsBeforeItReads) {
  const std::vector<std::vector<std::string>> contradictions = {
      {"--num-beams", "2", "--num-return-sequences", "3", "--json"},
      {"--num-beams", "4", "--do-sample"},
      {"--num-beams", "0"},
      {"--greedy", "--num-beams", "4"},
      {"--num-beams", "many"},
      {"--early-stopping", "sometimes"},
      {"--max-length", "100000"},
      {"--target-language", "cmn_Hans"},
      {"--batch-size", "0"},
      {"--stream"},
      {"--stream", "--json"},  // with the package's beams
      {"--resume"},
      {"--workers", "0"},
      {"--deadline", "-1"},
      {"--threads", "-1"},
      {"--no-such-option"},
  };
  for (const std::vector<std::string>& more : contradictions) {
    std::vector<std::string> arguments = {"translate", test_package()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program(arguments, {.input = "Good morning.\n"});
    EXPECT_EQ(outcome.status, 2) << more.front();
    EXPECT_THAT(outcome.out, IsEmpty()) << more.front();
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]+\n")) << more.front();
  }
}

// A deadline of ten thousand years had passed already: it overflowed the clock.
TEST(Translate, RefusesDeadlinesThatNoClockHolds) {
  for (const std::string seconds : {"nan", "inf", "1e300", "0", "-1"}) {
    const Outcome outcome = translate("Good morning.\n", {"--deadline", seconds});
    EXPECT_EQ(outcome.status, 2) << seconds;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: --deadline is [^\n]+\n"));
  }
}

TEST(Translate, SaysNothingOfARunThatDidNotBegin) {
  const Outcome outcome =
      run_program({"translate", test_package(), "--output", "/no/such/folder/output"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]+\n"));
}

// Sizes beyond any counter wrapped around: a batch of 2^62 sentences read for ever, and a batch of
// -1 was one of 2^64 - 1.
TEST(Translate, RefusesBatchesBeyondAnyUse) {
  const std::vector<std::vector<std::string>> numbers = {
      {"--batch-size", "4611686018427387904"},
      {"--batch-size", "-1"},
      {"--batch-tokens", "-1"},
      {"--batch-tokens", "99999999999999999999"},
  };
  for (const std::vector<std::string>& number : numbers) {
    const Outcome outcome = translate("Good morning.\n", number);
    EXPECT_EQ(outcome.status, 2) << number.front() << ' ' << number.back();
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]{1,120}\n"));
  }
}

// Names that the system refuses to look at were called a fault of the program, and an empty output
// wrote to standard output.
TEST(Translate, TakesNoPathThatCannotBe) {
  const TemporaryFolder folder;
  const std::string input = folder.write("input", "Good morning.\n").string();
  const std::string circle = folder / "circle";
  std::filesystem::create_symlink(circle, circle);
  const std::string endless(300, 'x');
  const std::vector<std::vector<std::string>> paths = {
      {endless},
      {circle},
      {input, "--output", endless},
      {input, "--output", circle},
      {input, "--output", ""},
      {input, "--output", folder.path().string()},
      {input, "--output", std::string(250, 'x')},  // ".partial" makes it too long
  };
  for (const std::vector<std::string>& path : paths) {
    const Outcome outcome = translate("", path);
    EXPECT_EQ(outcome.status, 2) << path.back();
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]+; [^\n]+\n"));
  }
}

// A prefix that is no UTF-8 broke the journal of a resumable output and left its beginnings there.
TEST(Translate, RefusesAPrefixThatIsNotUtf8) {
  const TemporaryFolder folder;
  const Outcome outcome =
      translate("Good morning.\n", {"--target-prefix", "\xFF", "--output", folder / "out.txt"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("target_prefix is not valid UTF-8"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Translate, NamesAPackageThatIsNotThere) {
  const Outcome outcome = run_program({"translate", "/no/such/package"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]*/no/such/package[^\n]*\n"));
}

TEST(Translate, SaysOnOneLineWhatItDid) {
  const ProgramOptions input{.input = "Good morning.\n7\n"};
  const Outcome outcome = run_program({"translate", test_package(), "--greedy"}, input);
  EXPECT_THAT(outcome.err, MatchesRegex("sampan: 2 lines, 2 sentences, [0-9]+ tokens in [0-9.]+ s "
                                        "\\([0-9]+ tokens/s\\); 0 truncated, 0 repeating\n"));
}

TEST(Translate, AnswersALineBeforeTheNextIsTyped) {
  Program program({"translate", test_package(), "--greedy", "--quiet"}, {});
  program.write_input("Good morning.\n");
  EXPECT_EQ(program.read_output(13), "早上好。\n");
  program.write_input("My name is Tom.\n");
  EXPECT_EQ(program.read_output(16), "我叫汤姆。\n");
  program.close_input();
  EXPECT_EQ(program.wait().status, 0);
}

TEST(Translate, EndsBySignalWithWhatWasFinished) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program({"translate", test_package(), "--greedy"}, {});
    program.write_input("Good morning.\n");
    EXPECT_EQ(program.read_output(13), "早上好。\n");
    program.write_input("My name");  // no line yet: the program waits for the rest
    program.send(signal);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.status, 128 + signal);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("sampan: 1 line, "));
    EXPECT_THAT(outcome.err, HasSubstr("sampan: stopped by "));
  }
}

TEST(Translate, EndsBySignalInTheMiddleOfTranslating) {
  Program program({"translate", test_package(), "--quiet", "--batch-size", "1"}, {});
  std::string input;
  for (int i = 0; i < 1500; ++i) input += "I have been waiting for you at the station.\n";
  program.write_input(input);
  const std::string first = program.read_output(1);
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  const std::string output = first + outcome.out;
  EXPECT_THAT(output, EndsWith("\n"));
  EXPECT_LT(line_breaks(output), 1500);
}

TEST(Translate, EndsWhenItsReaderGoesAway) {
  Program program({"translate", test_package(), "--greedy", "--quiet"}, {});
  program.write_input("Good morning.\n");
  program.read_output(13);
  program.close_output();
  program.write_input("Good morning.\n");
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 128 + SIGPIPE);
  EXPECT_EQ(outcome.err, "");
}

TEST(Translate, EndsWhenTheDiskIsFull) {
  const Outcome outcome = run_program({"translate", test_package(), "--greedy", "--quiet"},
                                      {.input = "Good morning.\n", .output_path = "/dev/full"});
  EXPECT_EQ(outcome.status, 9);
  EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: standard output: [^\n]*\n"));
  EXPECT_EQ(translate("Good morning.\n", {"--output", "/dev/full"}).status, 9);
}

// A closed standard input became the number of the first file that the program opened for itself,
// and it waited there for ever.
TEST(Translate, EndsWhereAStandardStreamIsClosed) {
  for (const int stream : {0, 1}) {
    ProgramOptions options;
    options.input = "Good morning.\n";
    options.closed_stream = stream;
    const Outcome outcome = run_program({"translate", test_package(), "--quiet"}, options);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: standard (in|out)put: [^\n]*\n"));
  }
}

// Until somebody read the pipe, the program heard neither a signal nor its deadline.
TEST(Translate, WaitsForTheReaderOfANamedPipeWithOpenEars) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(translate("Good morning.\n", {"--output", pipe, "--deadline", "2"}).status, 11);

  Program program({"translate", test_package(), "--greedy", "--quiet", "--output", pipe}, {});
  program.write_input("Good morning.\n");
  program.close_input();
  std::ifstream reader(pipe);
  const std::string read{std::istreambuf_iterator<char>(reader), {}};
  EXPECT_EQ(read, "早上好。\n");
  EXPECT_EQ(program.wait().status, 0);
}

// A message passed on what commands a terminal: colours, bells, titles.
TEST(Translate, ShowsControlCharactersOfANameAsText) {
  const Outcome outcome = run_program({"translate", "/no/\x1b[31m\a\x7f\xC2\x9Bü\n"});
  EXPECT_THAT(outcome.err, HasSubstr("/no/\\x1b[31m\\x07\\x7f\xC2\\x9bü : no such package"));
}

TEST(Translate, TakesNoEmptyNames) {
  const TemporaryFolder folder;
  const std::string output = folder / "output";
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"translate", ""}, {"translate", test_package(), ""}, {"export", "", "-o", output}}) {
    const Outcome outcome = run_program(arguments);
    EXPECT_NE(outcome.status, 0);
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: (''|a path is empty)[^\n]+\n"));
  }
}

TEST(Translate, EndsAtTheDeadline) {
  Program program({"translate", test_package(), "--greedy", "--deadline", "3"}, {});
  program.write_input("Good morning.\n");
  EXPECT_EQ(program.read_output(13), "早上好。\n");
  while (program.read_output(1) != "") {
  }
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 11);
  EXPECT_THAT(outcome.err, HasSubstr("deadline"));
}

TEST(Translate, WritesAFileThatAppearsWhole) {
  const TemporaryFolder folder;
  const std::string file = folder / "out";
  EXPECT_EQ(translate("Good morning.\n", {"--output", file}).status, 0);
  EXPECT_EQ(content_of(file), "早上好。\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Translate, ResumesAnInterruptedFile) {
  const TemporaryFolder folder;
  const std::string file = folder / "out";
  const std::vector<std::string> arguments = {"translate", test_package(), "--greedy",
                                              "--output",  file,           "--resume"};
  {
    Program program(arguments, {});
    program.write_input("Good morning.\nMy name is Tom.\n");
    for (int i = 0; i < 2000 && size_of(file + ".partial") < 29; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    program.send(SIGTERM);
    EXPECT_EQ(program.wait().status, 143);
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  const std::string input = "Good morning.\nMy name is Tom.\nGood morning.";
  EXPECT_EQ(translate(input, {"--output", file}).status, 4);
  const Outcome other = translate("Hello.\n" + input, {"--output", file, "--resume"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("the input is not the same"));
  const Outcome outcome = run_program(arguments, {.input = input});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("resuming after 2 lines"));
  EXPECT_EQ(content_of(file), "早上好。\n我叫汤姆。\n早上好。");
}

TEST(Translate, NeedsNoMoreMemoryForALongerFile) {
  // AddressSanitizer would keep what is freed.
  const ProgramOptions options{.environment = {{"ASAN_OPTIONS", "quarantine_size_mb=1"}}};
  Program program({"translate", test_package(), "--greedy", "--quiet", "--threads", "1"}, options);
  const auto feed = [&](int lines) {
    std::string input;
    for (int i = 0; i < lines; ++i) input += "12 34 56 78 90 !!! ??? ... 12 34 56 78 90\n";
    std::thread writer([&] { program.write_input(input); });
    EXPECT_EQ(program.read_output(input.size()).size(), input.size());
    writer.join();
    return program.peak_memory();
  };
  program.write_input("Good morning.\n");
  program.read_output(13);
  const std::size_t early = feed(2'000);
  const std::size_t late = feed(30'000);
  program.close_input();
  EXPECT_EQ(program.wait().status, 0);
  EXPECT_LT(late, early + (std::size_t{16} << 20));
}

}  // namespace
}  // namespace sampan::cli
