#include "verify/sample_text.h"

#include <array>

namespace sampan::verify {

std::span<const std::string_view> sample_text() {
  static constexpr std::array<std::string_view, 24> kLines = {
      "Hello.",
      "Thank you very much!",
      "Where is the railway station?",
      "I do not know what she wants.",
      "The ferry leaves at 7:45 and arrives before noon.",
      "He bought three kilos of rice, two fish and a lemon.",
      "If it rains tomorrow, we will stay at home and read.",
      "Nobody has seen the captain since last Friday.",
      "Please close the door when you leave.",
      "My brother is two years older than I am.",
      "\"Wait for me,\" said the boy, \"I am coming too.\"",
      "The total is 1,234.50 dollars, tax included.",
      "She has lived in Berlin, Osaka and Nairobi.",
      "How long does it take to walk to the harbour from here?",
      "Although the bridge was old and narrow, every bus of the town had to cross it twice a day.",
      "What a beautiful morning it is today!",
      "The doctor told him to drink more water and to sleep at least eight hours.",
      "Can you help me?",
      "There was nothing in the box but a broken watch and a letter without a name.",
      "They have been building this house for more than ten years.",
      "No, it is not mine.",
      "The farmers who live by the river plant their rice in June and harvest it in October.",
      "Water boils at 100 degrees.",
      "When I was a child, my grandmother used to tell me stories about the sea, about ships that "
      "never came home, and about the lamp that she lit in the window every night.",
  };
  return kLines;
}

}  // namespace sampan::verify
