#include <cstdio>
#include <iostream>

// std::cout in a comment is fine, and so is exit(1).
const char* text = "std::cerr << abort()";
/* A block comment may
   say printf("x") too. */
void snprintf_is_fine(char* to) { std::snprintf(to, 4, "%d", 1); }
void loud() {
  std::cout << "x";
  printf("x");
  std::fputs("x", stderr); /* why */ fmt::print("x");
  my_exit(1); at_exit_(2);
  std::exit(1);
  abort();
  std::terminate();
}
