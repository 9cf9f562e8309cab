#include <iostream>

int main() { std::cout << "the program may print\n"; }
