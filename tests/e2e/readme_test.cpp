// The commands that README tells a new user to try.
#include <sstream>

#include "base/files.h"
#include "base/folders.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

// Lines such as "    build/bin/hum notes x.wav -o out/x.mid   # comment".
std::vector<std::vector<std::string>> commands_of(const std::string& page) {
  const std::string prefix = "    build/bin/hum ";
  std::vector<std::vector<std::string>> commands;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(prefix)) continue;
    std::istringstream words(line.substr(prefix.size()));
    std::vector<std::string>& command = commands.emplace_back();
    for (std::string word; words >> word && word != "#";) command.push_back(word);
  }
  return commands;
}

using Readme = Program;

TEST_F(Readme, ItsCommandsWork) {
  const auto commands = commands_of(read_file(source_folder() / "README.md"));
  ASSERT_GE(commands.size(), 3U);
  std::filesystem::create_directories(folder_ / "out");
  for (auto command : commands) {
    for (std::string& word : command) {
      if (word.starts_with("out/")) word = path(word);
      if (word.starts_with("examples/")) word = (source_folder() / word).string();
    }
    const Outcome run = run_hum(command);
    EXPECT_EQ(run.code, 0) << command[0] << ": " << run.err;
  }
}

}  // namespace
}  // namespace hum::e2e
