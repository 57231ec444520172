// Runs the tests of one folder.
#include <gmock/gmock.h>

#include "base/process.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  hum::end_process(RUN_ALL_TESTS());
}
