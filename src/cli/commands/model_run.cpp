// hum model run: prints the most likely continuation of a token sequence. It does not tokenize
// text.
#include <fmt/ranges.h>

#include <iostream>

#include "app/session_options.h"
#include "app/training/configuration.h"
#include "base/files.h"
#include "cli/commands/commands.h"
#include "models/llama/llama_session.h"

namespace hum::cli {
namespace {

struct Args {
  std::string folder;
  std::string tokens;
  int64_t count = 64;
  app::Compute compute = app::Compute::kF32;
  template <class V>
  void declare(V& v) {
    v.positional("folder", folder, "Hugging Face folder of a Llama, Mistral or Qwen2");
    v("tokens", tokens, "tokens of the prompt, e.g. 1,2,3");
    v("count", count, "tokens to generate; an end token stops earlier");
    v("compute", compute, "element type of weights and activations");
  }
};

std::vector<int32_t> parse_tokens(const std::string& text) {
  const Json list = try_parse_json("[" + text + "]");
  std::vector<int32_t> tokens;
  for (const Json& token : list) {
    if (token.is_number_unsigned()) tokens.push_back(token.get<int32_t>());
  }
  if (!list.is_array() || tokens.empty() || tokens.size() != list.size()) {
    fail(ExitCode::kUsage, fmt::format("--tokens '{}' is not a list of tokens", text),
         "give whole numbers: --tokens 1,2,3");
  }
  return tokens;
}

int run(Args& args) {
  require_folder(args.folder,
                 "give the folder of a Llama, Mistral or Qwen2, with its config.json and weights");
  if (args.tokens.empty()) {
    fail(ExitCode::kUsage, "hum model run needs --tokens", "for example: --tokens 1,2,3");
  }
  const std::vector<int32_t> prompt = parse_tokens(args.tokens);
  runtime::Session session(app::session_options());
  const models::llama::LlamaSession model(session, args.folder, app::dtype_of(args.compute));
  const auto made = model.generate(prompt, args.count);
  std::cout << fmt::format("{}\n", fmt::join(made, ",")) << std::flush;
  return 0;
}

}  // namespace

const Command kModelRun = {"model run", "continue a token sequence with a Llama",
                           "hum model run FOLDER --tokens 1,2,3 --count 64",
                           make_command<Args, run>};

}  // namespace hum::cli
