// What each platform can run of the ops that hum prints, and what is done about the rest: a table
// of rules with their sources. Everything a rule does not name is plain StableHLO that all of them
// take.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/function.h"

namespace hum::graph {

enum class Verdict {
  kNative,       // printed as it is
  kKernel,       // a call of hum's own kernel
  kLegalised,    // printed as something else that the platform takes
  kUnsupported,  // refused
};
std::string_view to_name(Verdict verdict);

struct Rule {
  const OpDef* op;
  bool (*applies)(const Node& node);
  Verdict verdict;
  std::string_view what;  // why it is refused, or what is printed instead
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
// "cpu", "cuda", "tpu", "neuron". Throws kUsage for other names.
const Profile& profile_named(std::string_view name);
// Of a plugin's platform: one without a profile (rocm, ...) takes cuda's.
const Profile& profile_of_platform(std::string_view platform);

bool no_kernels(const Node& node);

// One op of one kind in a function.
struct AuditRow {
  std::string op;
  Verdict verdict = Verdict::kNative;
  std::string what;
  std::string source;
  int64_t count = 0;
  double flops = 0;  // of one run, without those of its regions, which have rows of their own
  std::vector<std::string> where;  // the first few lines that made it
};
struct Audit {
  std::vector<AuditRow> rows;  // unsupported first, then legalised, kernels, native
  bool is_supported() const;
};
// Every op as it would be printed: bodies of loops too, kernels as such, other calls opened up.
Audit audit(const Function& function, const Profile& profile,
            const std::function<bool(const Node&)>& use_kernel);

// Throws kUnavailable, naming op, reason and source line, when the platform cannot run the
// function.
void require_supported(const Function& function, const Profile& profile,
                       const std::function<bool(const Node&)>& use_kernel);

}  // namespace hum::graph
