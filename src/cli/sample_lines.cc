#include "cli/sample_lines.h"

namespace sampan::cli {

std::vector<std::string> sample_lines() {
  return {
      "Where is the station?",
      "I would like a cup of tea, please.",
      "The museum is closed on Mondays.",
      "She has lived in this village since she was a child.",
      "Can you tell me how much this bag costs?",
      "We missed the last bus and had to walk home in the rain.",
      "He never answers his telephone before ten o'clock in the morning.",
      "The two rivers meet a few miles south of the old stone bridge.",
      "Nobody knew why the lights in the harbour had gone out.",
      "If the weather stays fine, we will pick the rest of the apples tomorrow.",
      "The doctor told him to drink more water and to sleep with the window open.",
      "Good morning!",
      "My brother repairs bicycles in a small shop behind the market hall.",
      "The letter that arrived yesterday had been on its way for almost three weeks.",
      "Children under six travel free of charge when an adult comes along.",
      "After the meeting the director thanked everyone and promised to send the figures by Friday.",
  };
}

}  // namespace sampan::cli
