// The capability profiles: what they find in a graph, where, and that every op has a verdict.
#include "graph/profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops.h"

namespace hum::graph {
namespace {

using ::testing::HasSubstr;

const AuditRow* row_of(const Audit& audit, std::string_view op) {
  const auto found = std::ranges::find(audit.rows, op, &AuditRow::op);
  return found == audit.rows.end() ? nullptr : &*found;
}

Function with_everything() {
  const Value x = parameter("x", {DType::kF32, {4, 4}});
  const auto spectrum = rfft(x);
  const Values loop = while_loop(
      Values{x}, [](auto c) { return sum_all(c[0]) < 10; },
      [](auto c) { return Values{tanh(c[0])}; });
  const auto steps = scan(3, Values{x}, {}, [](const ScanStep& step) {
    return ScanResult{{exponential(step.carry[0])}, {}};
  });
  const Values kernel = custom_call(
      "hum.test", Values{x}, {}, [](std::span<const Value> in) { return Values{cosine(in[0])}; });
  return {.parameters = {x}, .results = {spectrum.real, loop[0], steps.carry[0], kernel[0]}};
}

TEST(Profile, NeuronsNamesWhatItRefusesAndWhere) {
  const Audit found = audit(with_everything(), profile_named("neuron"), no_kernels);
  EXPECT_FALSE(found.is_supported());
  for (const char* op : {"while"}) {
    const AuditRow* row = row_of(found, op);
    ASSERT_NE(row, nullptr) << op;
    EXPECT_EQ(row->verdict, Verdict::kUnsupported) << op;
    EXPECT_THAT(row->where.at(0), HasSubstr("profile_test.cpp:"));
    EXPECT_THAT(row->source, HasSubstr("jax-neuronx-known-issues.rst"));
  }
  EXPECT_EQ(found.rows[0].verdict, Verdict::kUnsupported) << "those come first";
  EXPECT_EQ(row_of(found, "rfft")->verdict, Verdict::kLegalised);
  EXPECT_EQ(row_of(found, "scan")->verdict, Verdict::kLegalised);
  EXPECT_EQ(row_of(found, "custom_call hum.test")->verdict, Verdict::kLegalised);
  EXPECT_NE(row_of(found, "cosine"), nullptr) << "of the kernel's fallback";
  EXPECT_NE(row_of(found, "tanh"), nullptr) << "of the loop's body";
}

TEST(Profile, CpusRunsItAllWithKernels) {
  const auto all = [](const Node&) { return true; };
  const Audit found = audit(with_everything(), profile_named("cpu"), all);
  EXPECT_TRUE(found.is_supported());
  EXPECT_EQ(row_of(found, "custom_call hum.test")->verdict, Verdict::kKernel);
  EXPECT_EQ(row_of(found, "cosine"), nullptr) << "the fallback is not printed";
  EXPECT_NO_THROW(require_supported(with_everything(), profile_named("cpu"), all));
}

TEST(Profile, OfAPlatformWithoutOneIsThatOfGpus) {
  EXPECT_EQ(profile_of_platform("tpu").name, "tpu");
  EXPECT_EQ(profile_of_platform("rocm").name, "cuda");
}

TEST(Profile, RefusalNamesOpReasonAndSource) {
  try {
    require_supported(with_everything(), profile_named("neuron"), no_kernels);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnavailable);
    EXPECT_THAT(error.message(), HasSubstr("made at profile_test.cpp:"));
    EXPECT_THAT(error.message(), HasSubstr("does not run on neuron"));
    EXPECT_THAT(error.hint(), HasSubstr("known-issues"));
  }
}

TEST(Profile, RulesSpeakOfOpsInTheTableAndOfSourcesInTheList) {
  for (const Profile& profile : profiles()) {
    for (const Rule& rule : profile.rules) {
      EXPECT_NE(std::ranges::find(op_table(), rule.op), op_table().end());
      EXPECT_LT(rule.source, profile.sources.size());
    }
  }
}

}  // namespace
}  // namespace hum::graph
