#include <iostream>
#include <sampan/error.h>
#include <sampan/exporter.h>
#include <sampan/translator.h>
#include <sampan/version.h>

// translate_sentence CHECKPOINT PACKAGE SENTENCE: the whole public way, from a checkpoint to a
// translation, and an error that crosses the library's border with its type.
int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    sampan::Translator::load("/nowhere/at/all");
    return 3;
  } catch (const sampan::Error& error) {
    if (error.code() != sampan::ErrorCode::kNotFound) return 4;
  }
  sampan::export_checkpoint(argv[1], argv[2]);
  const sampan::Translator translator = sampan::Translator::load(argv[2]);
  std::cout << sampan::version() << '\n' << translator.translate(argv[3]).text << '\n';
}
