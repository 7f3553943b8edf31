/* A program with two libraries made with Rust: prints the output of the other library, then the text. */
#define main text_main
#include "text.c"
#undef main

uint64_t other_letters(uint32_t words);

int main(void) { return other_letters(100) == 400 ? text_main() : 1; }
