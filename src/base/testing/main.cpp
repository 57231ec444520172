// Runs the tests of one folder.
#include <gmock/gmock.h>

#include "base/process.h"
#include "base/testing/postgres_server.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  const int exit_code = RUN_ALL_TESTS();
  hum::testing::PostgresServer::end_shared();
  hum::end_process(exit_code);
}
