// Which of the ops that hum prints each platform can run, and how the others are handled: a table
// of rules with sources. Ops without a rule are plain StableHLO that every platform accepts.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/function.h"

namespace hum::graph {

enum class Verdict {
  kNative,       // printed unchanged
  kKernel,       // a call to hum's own kernel
  kLegalised,    // printed as other ops that the platform accepts
  kUnsupported,  // an error
};
std::string_view to_name(Verdict verdict);

struct Rule {
  const OpDef* op;
  bool (*applies)(const Node& node);
  Verdict verdict;
  std::string_view what;  // why it is an error, or what is printed instead
  size_t source;          // index into Profile::sources
};

struct Profile {
  std::string_view name;
  bool has_kernels = false;  // hum's kernels are CPU code
  bool has_fft = true;
  std::span<const Rule> rules;
  std::span<const std::string_view> sources;
};

std::span<const Profile> profiles();
// "cpu", "cuda", "tpu", "neuron". Throws kUsage on other names.
const Profile& profile_named(std::string_view name);
// The profile of a plugin's platform; platforms without one (rocm, ...) use cuda's.
const Profile& profile_of_platform(std::string_view platform);

bool no_kernels(const Node& node);

// The occurrences of one op in a function.
struct AuditRow {
  std::string op;
  Verdict verdict = Verdict::kNative;
  std::string what;
  std::string source;
  int64_t count = 0;
  double flops = 0;                // of one run, without its regions, which have their own rows
  std::vector<std::string> where;  // the first few source lines that built it
};
struct Audit {
  std::vector<AuditRow> rows;  // unsupported first, then legalised, kernels, native
  bool is_supported() const;
};
// Every op as it would be printed, including loop bodies; kernels stay calls, other calls are
// inlined.
Audit audit(const Function& function, const Profile& profile,
            const std::function<bool(const Node&)>& use_kernel);

// Throws kUnavailable, naming op, reason and source line, if the platform cannot run the function.
void require_supported(const Function& function, const Profile& profile,
                       const std::function<bool(const Node&)>& use_kernel);

}  // namespace hum::graph
