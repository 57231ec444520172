// Test helper: a PostgreSQL server in a temporary folder, on a Unix socket. It refuses to run as
// root and then runs as nobody. It ends with the thread that started it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "base/scratch_folder.h"

namespace hum::testing {

// kNone: without fsync, which tests do not need.
enum class Durability { kNone, kFull };

class PostgresServer {
 public:
  // Throws: kUnavailable if the package postgresql-15 is missing or the server does not start.
  explicit PostgresServer(Durability durability = Durability::kNone);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // One for all tests of the program, started by the first. The program's main() ends it.
  static PostgresServer& shared();
  static void end_shared();

  // Returns the URL of a new database, as a user who may do everything.
  std::string new_database();
  // The same database for another user, "name:password". Only the first needs no password.
  static std::string as_user(std::string url, const std::string& user_and_password);

  void start();
  // Ends it and all its connections at once, as a crash does.
  void kill();
  // SIGKILL, to all its processes at once. They are gone when it returns.
  void kill_all();

 private:
  std::string url_of(const std::string& database) const;

  Durability durability_;
  ScratchFolder folder_;
  pid_t process_ = -1;
  int databases_ = 0;
};

}  // namespace hum::testing
