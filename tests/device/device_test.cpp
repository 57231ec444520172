// What another device computes, compared with the CPU plugin, both without kernels of ours. The
// plugin is HUM_TEST_PLUGIN, else that of jax-cuda13-pjrt where that is installed.
//
// f32 within 1e-4 of each result's largest number: products ask for the HIGHEST precision, so that
// no GPU uses TF32. bf16 within 3e-2.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "pjrt/plugin.h"
#include "tests/parity/blocks.h"
#include "tests/parity/golden.h"
#include "tests/parity/op_cases.h"
#include "tests/parity/training_runs.h"

namespace hum::parity {
namespace {

namespace fs = std::filesystem;
using graph::DType;
using runtime::HostTensor;
using runtime::Session;

constexpr double kF32Bound = 1e-4, kBf16Bound = 3e-2;

// Why there is nothing to compare with; empty when there is.
std::string why_skipped(fs::path& plugin) {
  if (const char* given = std::getenv("HUM_TEST_PLUGIN")) {
    plugin = given;
    return "";
  }
  if (!fs::exists("/dev/nvidiactl")) return "no GPU here (/dev/nvidiactl is missing)";
  try {
    plugin = pjrt::find_plugin("cuda");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// Never closed: the plugins' threads may outlive main.
Session& reference() {
  static auto* session = new Session();
  return *session;
}
Session& device(const fs::path& plugin) {
  static auto* session = new Session({.plugin = plugin});
  return *session;
}

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = why_skipped(plugin_);
    if (!why.empty()) GTEST_SKIP() << why;
  }
  fs::path plugin_;
};

// A program under construction, with the contents of its parameters and the names of its results.
struct Program {
  Values parameters, results;
  std::vector<HostTensor> contents;
  std::vector<std::string> names;

  Value input(const std::string& name, HostTensor content) {
    const Value made = graph::parameter(name, content.shape());
    input(made, std::move(content));
    return made;
  }
  void input(const Value& parameter, HostTensor content) {
    parameters.push_back(parameter);
    contents.push_back(std::move(content));
  }
  void result(const std::string& name, const Value& value) {
    if (!value) return;  // no gradient flows
    results.push_back(value);
    names.push_back(name);
  }
  // The outputs, and the gradients of float inputs for cotangents by rule.
  void results_and_gradients(const std::string& name, const Values& outputs, const Values& inputs) {
    Values cotangents;
    bool any = false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string own = fmt::format("{}/{}", name, i);
      result(own, outputs[i]);
      cotangents.emplace_back();
      if (outputs[i].shape().dtype != DType::kF32) continue;
      cotangents.back() =
          input(own + "/cotangent", ruled_tensor(own + "/cotangent", outputs[i].shape().dims));
      any = true;
    }
    if (!any) return;
    const Values found = graph::pullback(outputs, cotangents, inputs);
    for (size_t i = 0; i < found.size(); ++i) {
      result(fmt::format("{}: gradient {}", name, i), found[i]);
    }
  }
};

void expect_near(const std::string& name, const HostTensor& got, const HostTensor& wanted,
                 double bound) {
  if (wanted.dtype() != DType::kF32 && wanted.dtype() != DType::kBF16) {
    const auto found = got.bytes(), reference = wanted.bytes();
    EXPECT_TRUE(std::ranges::equal(found, reference)) << name << ": whole numbers differ";
    return;
  }
  const auto ours = got.to_floats(), theirs = wanted.to_floats();
  ASSERT_EQ(ours.size(), theirs.size()) << name;
  double largest = 0, worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double a = ours[i], b = theirs[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= worst)) worst = std::abs(a - b);
  }
  for (const float value : theirs) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(double{value}));
  }
  EXPECT_LE(worst, bound * std::max(largest, 1e-3)) << name << " (largest: " << largest << ")";
}

void expect_same(const Program& program, const fs::path& plugin) {
  const graph::Function function{
      .name = "case", .parameters = program.parameters, .results = program.results};
  const auto wanted = reference().compile("reference", function).run(program.contents);
  const auto got = device(plugin).compile("device", function).run(program.contents);
  ASSERT_EQ(got.size(), program.names.size());
  for (size_t i = 0; i < got.size(); ++i) {
    expect_near(program.names[i], got[i], wanted[i], kF32Bound);
  }
}

class OpsOnDevice : public OnDevice, public ::testing::WithParamInterface<Family> {};

TEST_P(OpsOnDevice, AreTheCpus) {
  Program program;
  for (const OpCase& test : GetParam().cases()) {
    const Json& golden = golden_cases("ops.json").at(test.name);
    Values inputs;
    for (size_t i = 0; i < golden.at("inputs").size(); ++i) {
      const std::string own = fmt::format("{}/{}", test.name, i);
      inputs.push_back(program.input(own, golden_input(golden.at("inputs")[i], own)));
    }
    const bool with_gradients = std::ranges::any_of(
        golden.at("gradients"), [](const Json& gradient) { return !gradient.is_null(); });
    const Values outputs = test.build(inputs);
    if (with_gradients) {
      program.results_and_gradients(test.name, outputs, inputs);
    } else {
      for (const Value& output : outputs) program.result(test.name, output);
    }
  }
  expect_same(program, plugin_);
}
INSTANTIATE_TEST_SUITE_P(All, OpsOnDevice, ::testing::ValuesIn(families()),
                         [](const auto& info) { return std::string(info.param.name); });

class BlockOnDevice : public OnDevice, public ::testing::WithParamInterface<Block> {};

TEST_P(BlockOnDevice, IsTheCpus) {
  const std::string name = GetParam().golden;
  const Json& golden = golden_cases("blocks.json").at(name);
  Program program;
  Values inputs;
  for (size_t i = 0; i < golden.at("inputs").size(); ++i) {
    const std::string own = fmt::format("{}/{}", name, i);
    inputs.push_back(program.input(own, golden_input(golden.at("inputs")[i], own)));
  }
  nn::ParameterList list;
  const Values outputs = GetParam().build(nn::Scope(list), inputs);
  for (const auto& parameter : list.all()) {
    const Json& row = golden.at("parameters").at(parameter.name);
    program.input(parameter.value, ruled_tensor(name + "/" + parameter.name, parameter.shape.dims,
                                                row[1].get<double>(), row[2].get<double>()));
    inputs.push_back(parameter.value);
  }
  program.results_and_gradients(name, outputs, inputs);
  expect_same(program, plugin_);
}
INSTANTIATE_TEST_SUITE_P(All, BlockOnDevice, ::testing::ValuesIn(blocks()),
                         [](const auto& info) { return test_name(info.param); });

class StepOnDevice : public OnDevice, public ::testing::WithParamInterface<const char*> {};

// Losses of three steps, and the first one's gradients (AdamW's means) and their norm: later ones
// differ by more, since the first updates of AdamW are little but the signs of gradients.
TEST_P(StepOnDevice, OfTheCoarseModelIsTheCpus) {
  const bool is_f32 = GetParam() == std::string_view("f32");
  const double bound = is_f32 ? kF32Bound : kBf16Bound;
  const CoarseRun run;
  const auto spec = run.spec(is_f32 ? DType::kF32 : DType::kBF16);
  const auto start = [&](Session& session) {
    train::Trainer trainer(session, spec, run.golden.optimizer(), run.golden.number("steps"), 1);
    trainer.load(run.initial(*spec.parameters), /*whole=*/false);
    return trainer;
  };
  auto here = start(reference()), there = start(device(plugin_));
  for (int64_t step = 0; step < 3; ++step) {
    const auto batch = run.batch(step);
    const auto wanted = here.run(step, batch), got = there.run(step, batch);
    EXPECT_NEAR(got.scalars[0], wanted.scalars[0], bound * std::abs(wanted.scalars[0]));
    if (step > 0) continue;
    EXPECT_NEAR(got.scalars[1], wanted.scalars[1], bound * std::abs(wanted.scalars[1]));
    const auto reference_state = here.state(), state = there.state();
    for (size_t i = 0; i < state.size(); ++i) {
      ASSERT_EQ(state[i].name, reference_state[i].name);
      if (!state[i].name.starts_with("m.")) continue;
      expect_near(state[i].name, state[i].tensor, reference_state[i].tensor, bound);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, StepOnDevice, ::testing::Values("f32", "bf16"),
                         [](const auto& info) { return std::string(info.param); });

TEST(DeviceComparison, NoticesWrongNumbers) {
  const auto right = ruled_tensor("x", {8});
  auto wrong = right;
  wrong.as<float>()[3] += 1e-3F;
  ::testing::TestPartResultArray found;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
    expect_near("wrong", wrong, right, kF32Bound);
    expect_near("right", right, right, kF32Bound);
  }
  EXPECT_EQ(found.size(), 1);
}

}  // namespace
}  // namespace hum::parity
