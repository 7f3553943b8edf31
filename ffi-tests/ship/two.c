/* A program with two libraries made with Rust: the other one says what it is to say, then comes the text. */
#define main text_main
#include "text.c"
#undef main

uint64_t other_letters(uint32_t words);

int main(void) { return other_letters(100) == 400 ? text_main() : 1; }
