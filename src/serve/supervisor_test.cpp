#include "serve/supervisor.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "serve/service.h"

namespace hum::serve {
namespace {

using ::testing::HasSubstr;

template <class Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

class SupervisorTest : public ::testing::Test {
 protected:
  // A worker that writes its process id and then runs this line of a shell.
  SupervisorOptions worker(const std::string& line, int count = 1) const {
    return {.command = {"/bin/sh", "-c", "echo $$ >> " + (folder_ / "pids") + "; " + line},
            .workers = count,
            .first_backoff = std::chrono::milliseconds(40)};
  }
  std::vector<pid_t> pids() const {
    std::vector<pid_t> found;
    std::ifstream file(folder_ / "pids");
    for (pid_t pid = 0; file >> pid;) found.push_back(pid);
    return found;
  }
  // Not if it has ended and only waits for its parent to notice.
  static bool runs(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string id, name, state;
    return file >> id >> name >> state && state != "Z";
  }

  const ScratchFolder folder_;
};

TEST_F(SupervisorTest, WorkersThatDieAreReplaced) {
  Supervisor supervisor(worker("exec sleep 100", 2));
  ASSERT_TRUE(eventually([&] { return pids().size() == 2; }));
  const pid_t first = pids()[0];
  ::kill(first, SIGKILL);
  EXPECT_TRUE(eventually([&] { return pids().size() == 3; }));
  EXPECT_TRUE(eventually([&] { return !runs(first); }));
  EXPECT_TRUE(supervisor.finish_drain(std::chrono::seconds(10)));
  for (const pid_t pid : pids()) EXPECT_FALSE(runs(pid));
}

TEST_F(SupervisorTest, WorkersThatEndAtOnceAreReplacedMoreAndMoreSlowly) {
  const Supervisor supervisor(worker("exit 1"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  const size_t starts = pids().size();
  EXPECT_GE(starts, 2U);
  EXPECT_LE(starts, 6U) << "40 + 80 + 160 + 320 + 640 ms";
}

TEST_F(SupervisorTest, ADrainLetsWorkersEndAndStartsNoOthers) {
  const std::string log = folder_ / "log";
  Supervisor supervisor(
      worker("trap 'echo drained >> " + log + "; exit 0' TERM; while :; do sleep 0.05; done"));
  ASSERT_TRUE(eventually([&] { return pids().size() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the trap is set
  EXPECT_TRUE(supervisor.finish_drain(std::chrono::seconds(10)));
  EXPECT_THAT(read_file(log), HasSubstr("drained"));
  EXPECT_EQ(pids().size(), 1U);
}

TEST_F(SupervisorTest, AWorkerThatDoesNotEndIsKilled) {
  Supervisor supervisor(worker("trap '' TERM; while :; do sleep 0.05; done"));
  ASSERT_TRUE(eventually([&] { return pids().size() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(supervisor.finish_drain(std::chrono::milliseconds(200)));
  EXPECT_TRUE(eventually([&] { return !runs(pids()[0]); }));
}

TEST_F(SupervisorTest, WorkersDieWithAKilledParent) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    const Supervisor supervisor(worker("exec sleep 100"));
    while (true) ::pause();
  }
  ASSERT_TRUE(eventually([&] { return pids().size() == 1; }));
  EXPECT_TRUE(runs(pids()[0]));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !runs(pids()[0]); }));
}

TEST(ParseAddress, TakesNumericAddresses) {
  const Address usual = parse_address("127.0.0.1:8417");
  EXPECT_EQ(usual.host, "127.0.0.1");
  EXPECT_EQ(usual.port, 8417);
  EXPECT_TRUE(usual.is_loopback);
  EXPECT_TRUE(parse_address("[::1]:0").is_loopback);
  EXPECT_EQ(parse_address("localhost:80").host, "127.0.0.1");
  EXPECT_FALSE(parse_address("0.0.0.0:80").is_loopback);
  EXPECT_FALSE(parse_address("[::]:80").is_loopback);
  for (const char* bad : {"", ":", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:x", "::1:80",
                          "127.0.0.1:65536", "127.0.0.1:-1", "myhost:80", "127.0.0:80"}) {
    EXPECT_THROW(parse_address(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace hum::serve
