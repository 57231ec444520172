// Writes tiny weights of Spleeter, for the tests of songs: hum_tiny_spleeter FOLDER.
#include "app/separation/testing.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  hum::app::testing::write_tiny_spleeter(argv[1]);
  return 0;
}
