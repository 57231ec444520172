// Shared by the tests of the compile cache: a separate folder for each, and sessions that count.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "runtime/session.h"

namespace hum::runtime {

inline graph::Function doubled(float offset = 0) {
  const auto a = graph::parameter("a", graph::Shape{graph::DType::kF32, {4}});
  return {.name = "double", .parameters = {a}, .results = {a + a + offset}};
}

inline std::vector<HostTensor> input() { return {HostTensor::of<float>({4}, {1, 2, 3, 4})}; }

class CompileCacheTest : public ::testing::Test {
 protected:
  CompileCacheTest()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("hum-cache-{}", ::getpid())) {
    std::filesystem::remove_all(folder_);
  }
  ~CompileCacheTest() override { std::filesystem::remove_all(folder_); }

  SessionOptions options() const { return {.cache = folder_}; }
  // Compiles and runs in a new session; returns its counts.
  Counters start(SessionOptions options, const graph::Function& function = doubled(),
                 const CompileOptions& compile_options = {}) const {
    Session session(std::move(options));
    const auto program = session.compile("double", function, compile_options);
    EXPECT_THAT(program.run(input())[0].as<float>(), ::testing::ElementsAre(2, 4, 6, 8));
    return session.counters();
  }
  Counters start() const { return start(options()); }
  // The only entry.
  std::filesystem::path entry() const {
    std::filesystem::path found;
    for (const auto& item : std::filesystem::directory_iterator(folder_)) {
      if (item.path().extension() == ".program") found = item.path();
    }
    return found;
  }
  bool is_known_to_run() const {
    const auto permissions = std::filesystem::status(entry()).permissions();
    return (permissions & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
  }
  // Pretends that another machine created the entry.
  void forget_that_it_ran() const {
    std::filesystem::permissions(entry(), std::filesystem::perms::owner_exec,
                                 std::filesystem::perm_options::remove);
  }

  std::filesystem::path folder_;
};

// Runs this test program again with one test and its own variables; returns its exit status.
inline int run_self(const std::string& variables, const std::string& test, int processes = 1) {
  const std::string one =
      fmt::format("{} {} --gtest_filter={} >/dev/null & pids=\"$pids $!\"; ", variables,
                  std::filesystem::read_symlink("/proc/self/exe").string(), test);
  std::string command;
  for (int i = 0; i < processes; ++i) command += one;
  command += "status=0; for pid in $pids; do wait $pid || status=1; done; exit $status";
  return WEXITSTATUS(std::system(command.c_str()));
}

}  // namespace hum::runtime
