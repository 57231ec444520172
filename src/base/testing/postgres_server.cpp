#include "base/testing/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/postgres.h"
#include "base/testing/process.h"

namespace hum::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

const fs::path kPrograms = "/usr/lib/postgresql/15/bin";
constexpr const char* kSuperuser = "postgres";
// On a machine that does much else.
constexpr std::chrono::seconds kLongestStart{120};

std::unique_ptr<PostgresServer>& the_shared() {
  static std::unique_ptr<PostgresServer> server;
  return server;
}

// Null unless this process is root's.
const passwd* other_user() {
  if (::geteuid() != 0) return nullptr;
  const passwd* nobody = ::getpwnam("nobody");
  HUM_CHECK(nobody != nullptr);
  return nobody;
}

// Starts a program of PostgreSQL that ends with this thread. Its output goes to `log`.
pid_t launch(const std::vector<std::string>& arguments, const fs::path& log) {
  const std::string program = kPrograms / arguments.front();
  if (::access(program.c_str(), X_OK) != 0) {
    fail(ExitCode::kUnavailable, program + " is missing", "make setup installs postgresql-15");
  }
  std::vector<char*> words;
  words.push_back(const_cast<char*>(program.c_str()));
  for (size_t i = 1; i < arguments.size(); ++i) {
    words.push_back(const_cast<char*>(arguments[i].c_str()));
  }
  words.push_back(nullptr);
  const passwd* user = other_user();
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  HUM_CHECK(output >= 0, "{}", log.string());
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  HUM_CHECK(child >= 0);
  if (child == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    const bool is_set =
        user == nullptr || (::setgroups(0, nullptr) == 0 && ::setgid(user->pw_gid) == 0 &&
                            ::setuid(user->pw_uid) == 0);
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // after the change of the user, which would clear it
    if (is_set && ::getppid() == parent && ::chdir("/") == 0) {
      ::execv(program.c_str(), words.data());
    }
    ::_exit(127);
  }
  ::close(output);
  return child;
}

// Returns the status of the process once it has ended.
int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

PostgresServer::PostgresServer(Durability durability) : durability_(durability) {
  if (const passwd* user = other_user()) {
    HUM_CHECK(::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) == 0);
  }
  const std::string data = folder_ / "data";
  const int status =
      wait_for(launch({"initdb", "--no-sync", "--no-instructions", "--wal-segsize=1", "-D", data,
                       "-U", kSuperuser, "-A", "trust", "-E", "UTF8", "--locale=C"},
                      folder_ / "log"));
  if (status != 0) {
    fail(ExitCode::kUnavailable, "initdb failed: " + read_file(folder_ / "log"), "see its output");
  }
  write_file(data + "/pg_hba.conf",
             fmt::format("local all {} trust\nlocal all all scram-sha-256\n", kSuperuser));
  if (const passwd* user = other_user()) {
    HUM_CHECK(::chown((data + "/pg_hba.conf").c_str(), user->pw_uid, user->pw_gid) == 0);
  }
  start();
}

PostgresServer::~PostgresServer() { kill(); }

PostgresServer& PostgresServer::shared() {
  if (the_shared() == nullptr) the_shared() = std::make_unique<PostgresServer>();
  return *the_shared();
}

void PostgresServer::end_shared() { the_shared().reset(); }

void PostgresServer::start() {
  process_ =
      launch({"postgres", "-D", folder_ / "data", "-k", folder_.path().string(), "-h", "", "-c",
              durability_ == Durability::kFull ? "fsync=on" : "fsync=off", "-c",
              "max_connections=50", "-c", "shared_buffers=32MB", "-c", "log_min_messages=warning"},
             folder_ / "log");
  for (const auto deadline = Clock::now() + kLongestStart;;) {
    try {
      const Postgres connection(url_of("postgres"));
      return;
    } catch (const Error& error) {
      const bool has_ended = ::waitpid(process_, nullptr, WNOHANG) == process_;
      if (has_ended) process_ = -1;
      if (has_ended || Clock::now() > deadline) {
        fail(ExitCode::kUnavailable, "PostgreSQL does not start: " + read_file(folder_ / "log"),
             "see its output");
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void PostgresServer::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGQUIT);
  wait_for(process_);
  process_ = -1;
}

void PostgresServer::kill_all() {
  if (process_ < 0) return;
  ::kill(process_, SIGSTOP);  // it starts no others
  const std::vector<pid_t> children = children_of(process_);
  for (const pid_t child : children) ::kill(child, SIGKILL);
  ::kill(process_, SIGKILL);
  wait_for(process_);
  process_ = -1;
  for (const pid_t child : children) {
    while (is_running(child)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string PostgresServer::url_of(const std::string& database) const {
  return fmt::format("postgresql://{}@/{}?host={}", kSuperuser, database, folder_.path().string());
}

std::string PostgresServer::new_database() {
  const std::string name = fmt::format("test_{}", ++databases_);
  Postgres(url_of("postgres")).query("CREATE DATABASE " + name);
  return url_of(name);
}

std::string PostgresServer::as_user(std::string url, const std::string& user_and_password) {
  const size_t begin = url.find("//") + 2;
  return url.replace(begin, url.find('@') - begin, user_and_password);
}

}  // namespace hum::testing
