// `make install`: the copy works in an empty folder, without the source tree and the build folder.
#include "base/json.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Install : public Program {
 protected:
  // Runs the installed program in an empty folder. Neither tree can help it.
  Outcome run_installed(const std::string& arguments) const {
    fs::create_directories(folder_ / "empty");
    return run_shell(path("prefix/bin/hum") + " " + arguments,
                     {.environment = {{"HUM_SOURCE_DIR", "/nonexistent"}, {"HUM_THIRD_PARTY", ""}},
                      .folder = folder_ / "empty"});
  }
};

TEST_F(Install, WorksInAnEmptyFolderWithoutTheSourceTree) {
  const Outcome made =
      run_shell(std::string(HUM_CMAKE) + " --install " + HUM_BUILD + " --prefix " + path("prefix"));
  ASSERT_EQ(made.code, 0) << made.err;
  for (const char* file : {"share/bash-completion/completions/hum", "share/zsh/site-functions/_hum",
                           "share/fish/vendor_completions.d/hum.fish", "share/man/man1/hum.1"}) {
    EXPECT_GT(fs::file_size(folder_ / "prefix" / file), 1000U) << file;
  }
  const std::string env = run_installed("env").out;
  EXPECT_THAT(env, HasSubstr(path("prefix/share/hum") + "\n"));
  EXPECT_THAT(env, HasSubstr(path("prefix/lib/hum") + "\n"));
  EXPECT_THAT(env, testing::Not(HasSubstr(HUM_BUILD "/third_party")));
  const std::string example = path("prefix/share/hum/examples/vocadito_10.wav");
  for (const std::string& line :
       {"notes " + example + " -o a.mid", std::string("presets"), std::string("model check tiny"),
        std::string("plan --model llama-7b --cluster trn1.32xlarge:16")}) {
    const Outcome run = run_installed(line);
    EXPECT_EQ(run.code, 0) << line << "\n" << run.err;
  }
  const std::string first = "hum generate " + example + " --preset violin";
  EXPECT_THAT(run_installed("--help").out, HasSubstr(first));
  EXPECT_THAT(run_installed("help generate").out, HasSubstr(first));
  expect_error(run_installed(""), 2, "hum needs a command", first);
  expect_error(run_installed("train configs/codec.yaml"), 66, "configs/codec.yaml: no such file",
               "the name of one in configs/: codec");
  expect_error(run_installed("data make --config data --rank 1 --ranks 1"), 2,
               "rank 1 of 1 does not exist");
  const auto presets = parse_json(run_installed("presets --json").out);
  EXPECT_GT(presets.size(), 10U);
}

}  // namespace
}  // namespace hum::e2e
