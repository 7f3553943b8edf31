// The same program, as C++.
#include "text.c"
