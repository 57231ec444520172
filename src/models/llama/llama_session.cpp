#include "models/llama/llama_session.h"

#include <bit>
#include <map>
#include <mutex>

#include "base/error.h"
#include "models/llama/model.h"

namespace hum::models::llama {

using graph::DType;
using graph::Value;
using runtime::HostTensor;

namespace {

// Rounds lengths up to powers of two, so that few programs are compiled.
int64_t bucket(int64_t length) {
  return std::max<int64_t>(16, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(length))));
}

}  // namespace

struct LlamaSession::State {
  State(runtime::Session& session, const Checkpoint& checkpoint, DType compute)
      : session(session),
        compute(compute),
        model(checkpoint.config, {.joined = true, .matrices = compute}) {
    join(checkpoint);
  }

  runtime::Session& session;
  DType compute;
  Llama model;
  std::vector<runtime::Tensor> weights;
  std::mutex mutex;
  std::map<int64_t, runtime::Executable> logits_programs;
  std::map<std::pair<int64_t, int64_t>, runtime::Executable> generate_programs;

  // One small program converts the checkpoint's tensors to the layout of the others: joined, in the
  // compute type. So nothing is joined or converted when tokens are generated.
  void join(const Checkpoint& checkpoint) {
    const Llama logical(checkpoint.config);
    graph::Values results = logical.parameters().joined_values();
    const auto& wanted = model.parameters().all();
    HUM_CHECK(results.size() == wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      results[i] = graph::convert(results[i], wanted[i].shape.dtype);
    }
    const auto program = session.compile(
        "llama/join",
        {.name = "llama/join", .parameters = logical.parameters().values(), .results = results});
    std::vector<runtime::Tensor> stored;
    for (const HostTensor& tensor : checkpoint.tensors) stored.push_back(session.to_device(tensor));
    weights = program.run(stored);
  }

  runtime::Executable compile(const char* name, const graph::Values& inputs,
                              graph::Values results) const {
    graph::Function function{.name = name, .parameters = model.parameters().values()};
    function.parameters.insert(function.parameters.end(), inputs.begin(), inputs.end());
    function.results = std::move(results);
    return session.compile(name, function);
  }
  const runtime::Executable& logits_program(int64_t length) {
    std::lock_guard lock(mutex);
    auto found = logits_programs.find(length);
    if (found == logits_programs.end()) {
      const Value tokens = graph::parameter("tokens", {DType::kI32, {1, length}});
      found =
          logits_programs
              .emplace(length, compile("llama/logits", {tokens}, {model.logits(tokens, compute)}))
              .first;
    }
    return found->second;
  }
  const runtime::Executable& generate_program(int64_t length, int64_t room) {
    std::lock_guard lock(mutex);
    auto found = generate_programs.find({length, room});
    if (found == generate_programs.end()) {
      const Value prompt = graph::parameter("prompt", {DType::kI32, {1, length}});
      const Value there = graph::parameter("length", {DType::kI32, {}});
      const Value count = graph::parameter("count", {DType::kI32, {}});
      const auto made = model.generate(prompt, there, count, room, compute);
      found =
          generate_programs
              .emplace(std::pair(length, room), compile("llama/generate", {prompt, there, count},
                                                        {made.tokens_1N, made.count}))
              .first;
    }
    return found->second;
  }

  void require_readable(std::span<const int32_t> tokens, int64_t further) const {
    const LlamaConfig& config = model.config();
    const int64_t length = static_cast<int64_t>(tokens.size()) + further;
    if (tokens.empty()) fail(ExitCode::kUsage, "no tokens were given", "give whole numbers: 1,2,3");
    for (const int32_t token : tokens) {
      if (token >= 0 && token < config.vocabulary) continue;
      fail(ExitCode::kUsage, fmt::format("token {} is outside the vocabulary", token),
           fmt::format("tokens are 0 to {}", config.vocabulary - 1));
    }
    if (config.longest > 0 && length > config.longest) {
      fail(ExitCode::kUsage,
           fmt::format("{} tokens are more than the {} that the model can read", length,
                       config.longest),
           "its config.json needs dynamic rotary scaling or a sliding window, which hum lacks");
    }
  }
  std::vector<HostTensor> run(const runtime::Executable& program,
                              std::initializer_list<HostTensor> inputs) const {
    std::vector<runtime::Tensor> arguments = weights;
    for (const HostTensor& input : inputs) arguments.push_back(session.to_device(input));
    std::vector<HostTensor> results;
    for (const auto& result : program.run(arguments)) results.push_back(session.to_host(result));
    return results;
  }
};

namespace {

HostTensor padded(std::span<const int32_t> tokens, int64_t length) {
  std::vector<int32_t> whole(tokens.begin(), tokens.end());
  whole.resize(static_cast<size_t>(length));
  return HostTensor::of({1, length}, std::span<const int32_t>(whole));
}

}  // namespace

LlamaSession::LlamaSession(runtime::Session& session, const std::filesystem::path& folder,
                           DType compute)
    : LlamaSession(session, read_checkpoint(folder), compute) {}

LlamaSession::LlamaSession(runtime::Session& session, const Checkpoint& checkpoint, DType compute)
    : state_(std::make_unique<State>(session, checkpoint, compute)) {}

LlamaSession::~LlamaSession() = default;

const LlamaConfig& LlamaSession::config() const { return state_->model.config(); }

std::vector<float> LlamaSession::logits(std::span<const int32_t> tokens) const {
  state_->require_readable(tokens, 0);
  const int64_t length = bucket(static_cast<int64_t>(tokens.size()));
  const auto result = state_->run(state_->logits_program(length), {padded(tokens, length)});
  const auto values =
      result[0].as<float>().first(tokens.size() * static_cast<size_t>(config().vocabulary));
  return {values.begin(), values.end()};
}

std::vector<int32_t> LlamaSession::generate(std::span<const int32_t> prompt, int64_t count) const {
  if (count < 1)
    fail(ExitCode::kUsage, fmt::format("cannot generate {} tokens", count), "--count is 1 or more");
  state_->require_readable(prompt, count);
  const auto length = static_cast<int32_t>(prompt.size());
  const int64_t room = bucket(length), tokens = bucket(count);
  const auto result = state_->run(state_->generate_program(room, tokens),
                                  {padded(prompt, room), HostTensor::scalar(length),
                                   HostTensor::scalar(static_cast<int32_t>(count))});
  const auto made = static_cast<size_t>(result[1].as<int32_t>()[0]);
  const auto values = result[0].as<int32_t>().first(made);
  return {values.begin(), values.end()};
}

}  // namespace hum::models::llama
