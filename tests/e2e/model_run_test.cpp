// hum model run, on a folder that transformers wrote.
#include <fmt/ranges.h>

#include <algorithm>

#include "models/llama/test_golden.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

using testing::HasSubstr;

class ModelRun : public Program {
 protected:
  const std::string model = (models::llama::golden_folder() / "checkpoint").string();
  const models::llama::Golden golden{models::llama::golden_folder() / "checkpoint.safetensors"};
  const std::string prompt = fmt::format("{}", fmt::join(golden.prompt, ","));
};

TEST_F(ModelRun, PrintsTheContinuationUpToItsEnd) {
  const auto run = run_hum({"model", "run", model, "--tokens", prompt, "--count", "20"});
  EXPECT_EQ(run.code, 0) << run.err;
  // Token 7 ends a text of this model.
  auto end = std::find(golden.greedy.begin(), golden.greedy.begin() + 20, 7);
  if (end != golden.greedy.begin() + 20) ++end;
  EXPECT_EQ(run.out, fmt::format("{}\n", fmt::join(golden.greedy.begin(), end, ",")));
}

TEST_F(ModelRun, RefusesWhatIsNoTokensOrNoModel) {
  const auto words = run_hum({"model", "run", model, "--tokens", "hello"});
  EXPECT_EQ(words.code, 2);
  EXPECT_THAT(words.err, HasSubstr("'hello' is not a list of tokens"));
  const auto large = run_hum({"model", "run", model, "--tokens", "96"});
  EXPECT_EQ(large.code, 2);
  EXPECT_THAT(large.err, HasSubstr("token 96 is outside the vocabulary"));
  write("config.json", R"({"model_type": "gpt2"})");
  const auto other = run_hum({"model", "run", folder_.string(), "--tokens", "1"});
  EXPECT_EQ(other.code, 65);
  EXPECT_THAT(other.err, HasSubstr("model_type 'gpt2'"));
}

}  // namespace
}  // namespace hum::e2e
