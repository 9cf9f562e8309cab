// The sampan side of bench/peers/compare.py: loads a package, then translates its sentences once
// for each line "run" on standard input and answers with one line of JSON.
//
//   sampan_translate_worker PACKAGE SENTENCES THREADS BEAMS BATCH NEW_TOKENS
//
// NEW_TOKENS forces that many tokens from every sentence; 0 lets sentences end by themselves. A
// line "translate", a tab, a file of sentences, a tab, and a file to write puts the translations
// there, untimed and in batches of 32.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "evaluate/machine.h"
#include "sampan/translator.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

double megabytes(std::size_t bytes) { return static_cast<double>(bytes) / 1e6; }

/// Answers "translate<tab>SOURCE<tab>OUTPUT".
void write_translations(const sampan::Translator& translator, sampan::TranslateOptions options,
                        const std::string& command) {
  std::istringstream fields(command);
  std::string word, source, output;
  std::getline(fields, word, '\t');
  std::getline(fields, source, '\t');
  std::getline(fields, output);
  options.batch_size = 32;
  std::ofstream file(output);
  for (const sampan::Translation& translation : translator.translate(read_lines(source), options))
    file << translation.text << '\n';
  file.close();
  std::cout << "{}\n" << std::flush;
}

int run(const std::vector<std::string>& arguments) {
  const std::vector<std::string> sentences = read_lines(arguments.at(1));
  const std::int64_t new_tokens = std::stoll(arguments.at(5));
  const std::size_t idle = sampan::evaluate::process_memory().resident_bytes;

  const Clock::time_point start = Clock::now();
  sampan::LoadOptions load;
  load.threads = std::stoi(arguments.at(2));
  const sampan::Translator translator = sampan::Translator::load(arguments.at(0), load);
  std::cout << "{\"load_seconds\": " << seconds_since(start) << ", \"idle_mb\": " << megabytes(idle)
            << "}\n"
            << std::flush;

  sampan::TranslateOptions options = translator.default_options();
  options.generation.num_beams = std::stoll(arguments.at(3));
  options.batch_size = static_cast<std::size_t>(std::stoull(arguments.at(4)));
  options.batch_tokens = std::size_t{1} << 20;
  options.split_sentences = false;
  options.length_guard = false;
  options.generation.max_length = 200;
  if (new_tokens > 0) {
    options.generation.max_new_tokens = new_tokens;
    options.generation.min_new_tokens = new_tokens;
  }
  for (std::string command; std::getline(std::cin, command);) {
    if (command != "run") {
      write_translations(translator, options, command);
      continue;
    }
    const Clock::time_point begin = Clock::now();
    std::size_t tokens = 0;
    for (const sampan::Translation& translation : translator.translate(sentences, options))
      tokens += translation.tokens.size();
    std::cout << "{\"seconds\": " << seconds_since(begin) << ", \"tokens\": " << tokens
              << ", \"peak_mb\": " << megabytes(sampan::evaluate::process_memory().peak_bytes)
              << "}\n"
              << std::flush;
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::cerr
        << "usage: sampan_translate_worker PACKAGE SENTENCES THREADS BEAMS BATCH NEW_TOKENS\n";
    return EXIT_FAILURE;
  }
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "sampan_translate_worker: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
