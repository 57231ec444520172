#include "graph/profile/profile.h"

#include <algorithm>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/table.h"

namespace hum::graph {
namespace {

bool always(const Node&) { return true; }
bool is_integer(const Node& node) { return !is_float(node.input(0).dtype()); }

constexpr std::string_view kFallback = "inlined: its plain-op fallback is printed";
constexpr std::string_view kScan = "a while loop with a fixed number of iterations";

constexpr std::string_view kCpuSources[] = {
    "XLA:CPU plugins run every op of graph/ops/table.cpp: the op tests run all of them there"};
constexpr Rule kCpuRules[] = {
    {&kScanOp, always, Verdict::kLegalised, kScan, 0},
};

constexpr std::string_view kCudaSources[] = {
    "hum's kernels are CPU code; StableHLO specification v1.20 (openxla.org/stablehlo/spec)"};
constexpr Rule kCudaRules[] = {
    {&kScanOp, always, Verdict::kLegalised, kScan, 0},
    {&kCustomCallOp, always, Verdict::kLegalised, kFallback, 0},
};

constexpr std::string_view kTpuSources[] = {
    "hum's kernels are CPU code; StableHLO specification v1.20 (openxla.org/stablehlo/spec)",
    "libtpu cannot load serialized programs (pytorch/xla#9094): the compile cache stays empty "
    "there"};
constexpr Rule kTpuRules[] = {
    {&kScanOp, always, Verdict::kLegalised, kScan, 0},
    {&kCustomCallOp, always, Verdict::kLegalised, kFallback, 0},
};

constexpr std::string_view kNeuronSources[] = {
    "aws-neuron-sdk, frameworks/jax/setup/jax-neuronx-known-issues.rst (2026-03-13)",
    "aws-neuron-sdk, neuron-runtime/about/collectives.rst",
    "neuronx-distributed, pipeline/comm.py"};
constexpr Rule kNeuronRules[] = {
    {&kWhileOp, always, Verdict::kUnsupported,
     "loops without a fixed number of iterations are not supported; use scan", 0},
    {&kScanOp, always, Verdict::kLegalised, kScan, 0},
    {&kDotGeneralOp, is_integer, Verdict::kUnsupported,
     "dot products of integers are not supported; convert to f32", 0},
    {&kRfftOp, always, Verdict::kLegalised,
     "no complex numbers: printed as a product with a table of cosines", 0},
    {&kIrfftOp, always, Verdict::kLegalised,
     "no complex numbers: printed as a product with a table of cosines", 0},
    {&kGatherOp, always, Verdict::kNative, "an out-of-bounds index is an error, not clamped", 0},
    {&kScatterAddOp, always, Verdict::kNative, "an out-of-bounds index is an error, not dropped",
     0},
    {&kCollectivePermuteOp, always, Verdict::kNative,
     "only circular shifts are supported; hum prints no others", 1},
    {&kCustomCallOp, always, Verdict::kLegalised, kFallback, 0},
};

constexpr Profile kProfiles[] = {
    {"cpu", true, true, kCpuRules, kCpuSources},
    {"cuda", false, true, kCudaRules, kCudaSources},
    {"tpu", false, true, kTpuRules, kTpuSources},
    {"neuron", false, false, kNeuronRules, kNeuronSources},
};

}  // namespace

std::string_view to_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNative:
      return "native";
    case Verdict::kKernel:
      return "kernel";
    case Verdict::kLegalised:
      return "legalised";
    case Verdict::kUnsupported:
      return "unsupported";
  }
  return "";
}

std::span<const Profile> profiles() { return kProfiles; }

const Profile& profile_named(std::string_view name) {
  const auto found = std::ranges::find(kProfiles, name, &Profile::name);
  if (found != std::end(kProfiles)) return *found;
  std::vector<std::string_view> names;
  for (const Profile& profile : kProfiles) names.push_back(profile.name);
  fail(ExitCode::kUsage, fmt::format("no platform '{}'", name),
       fmt::format("one of {}", fmt::join(names, ", ")));
}

const Profile& profile_of_platform(std::string_view platform) {
  const auto found = std::ranges::find(kProfiles, platform, &Profile::name);
  return found == std::end(kProfiles) ? profile_named("cuda") : *found;
}

bool no_kernels(const Node&) { return false; }

}  // namespace hum::graph
