// Which values become arrays. As in XLA's CPU fusion, a loop computes cheap operands again for each
// user; what is dear and used twice, or is read by something that is no loop, is written. So is
// what a reduction reads: long ones are done in windows, which are not fused with what comes
// before.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "graph/memory/tasks_impl.h"
#include "graph/op.h"
#include "graph/ops/collectives_defs.h"
#include "graph/ops/control_defs.h"
#include "graph/ops/elementwise_defs.h"
#include "graph/ops/indexing_defs.h"
#include "graph/ops/reduction_defs.h"
#include "graph/ops/shape_ops_defs.h"
#include "graph/ops/structure_defs.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/inline_calls.h"

namespace hum::graph::memory {
namespace {

enum class Kind { kAlias, kCheap, kDear, kReduction, kOpaque };

struct Row {
  const OpDef* op;
  Kind kind;
};
constexpr Row kRows[] = {
    {&kReshapeOp, Kind::kAlias},
    {&kStopGradientOp, Kind::kAlias},
    {&kPlaceAsOp, Kind::kAlias},
    {&kOptimizationBarrierOp, Kind::kAlias},
    {&kConstantOp, Kind::kCheap},
    {&kIotaOp, Kind::kCheap},
    {&kNegateOp, Kind::kCheap},
    {&kAbsOp, Kind::kCheap},
    {&kFloorOp, Kind::kCheap},
    {&kCeilOp, Kind::kCheap},
    {&kRoundNearestEvenOp, Kind::kCheap},
    {&kSignOp, Kind::kCheap},
    {&kIsFiniteOp, Kind::kCheap},
    {&kNotOp, Kind::kCheap},
    {&kConvertOp, Kind::kCheap},
    {&kBitcastConvertOp, Kind::kCheap},
    {&kAddOp, Kind::kCheap},
    {&kSubtractOp, Kind::kCheap},
    {&kMultiplyOp, Kind::kCheap},
    {&kMaximumOp, Kind::kCheap},
    {&kMinimumOp, Kind::kCheap},
    {&kAndOp, Kind::kCheap},
    {&kOrOp, Kind::kCheap},
    {&kXorOp, Kind::kCheap},
    {&kShiftLeftOp, Kind::kCheap},
    {&kShiftRightLogicalOp, Kind::kCheap},
    {&kShiftRightArithmeticOp, Kind::kCheap},
    {&kCompareOp, Kind::kCheap},
    {&kSelectOp, Kind::kCheap},
    {&kBroadcastInDimOp, Kind::kCheap},
    {&kTransposeOp, Kind::kCheap},
    {&kReverseOp, Kind::kCheap},
    {&kConcatenateOp, Kind::kCheap},
    {&kSliceOp, Kind::kCheap},
    {&kPadOp, Kind::kCheap},
    {&kDynamicSliceOp, Kind::kCheap},
    {&kGatherOp, Kind::kCheap},
    {&kExponentialOp, Kind::kDear},
    {&kExponentialMinusOneOp, Kind::kDear},
    {&kLogOp, Kind::kDear},
    {&kLogPlusOneOp, Kind::kDear},
    {&kSqrtOp, Kind::kDear},
    {&kRsqrtOp, Kind::kDear},
    {&kTanhOp, Kind::kDear},
    {&kLogisticOp, Kind::kDear},
    {&kSineOp, Kind::kDear},
    {&kCosineOp, Kind::kDear},
    {&kDivideOp, Kind::kDear},
    {&kPowerOp, Kind::kDear},
    {&kRemainderOp, Kind::kDear},
    {&kAtan2Op, Kind::kDear},
    {&kReduceSumOp, Kind::kReduction},
    {&kReduceMaxOp, Kind::kReduction},
    {&kReduceMinOp, Kind::kReduction},
    {&kReduceProdOp, Kind::kReduction},
    {&kReduceAndOp, Kind::kReduction},
    {&kReduceOrOp, Kind::kReduction},
};

Kind kind_of(const Node& node) {
  const auto row = std::ranges::find(kRows, &node.op(), &Row::op);
  return row == std::end(kRows) ? Kind::kOpaque : row->kind;
}

using Key = std::pair<const Node*, int>;
Key key_of(const Value& value) { return {&value.node(), value.index()}; }

bool has_no_array(const Node& node) {
  return &node.op() == &kParameterOp || &node.op() == &kConstantOp;
}

// The most that one step of a loop holds beside what it is given and gives.
int64_t body_bytes(const Node& node) {
  int64_t most = 0;
  for (const Region& region : node.regions()) {
    most = std::max(most, peak_of(tasks_of(region.results, region.results)).bytes);
  }
  return most;
}

class Builder {
 public:
  Builder(std::span<const Value> roots, std::span<const Value> kept)
      : order_(topological_order(roots)) {
    for (const Value& value : kept) kept_.insert(key_of(array_of(value)));
    for (const Node* node : order_) {
      for (const Value& input : node->inputs()) count_use(array_of(input), kind_of(*node));
    }
    for (const Value& root : roots) count_use(array_of(root), Kind::kOpaque);
  }

  Tasks build() && {
    for (const Node* node : order_) {
      if (kind_of(*node) == Kind::kAlias || has_no_array(*node)) continue;
      if (is_written(*node)) {
        add_task(*node);
      } else {
        reads_[node] = reads_of(*node);
      }
    }
    return std::move(tasks_);
  }

 private:
  void count_use(const Value& value, Kind user) {
    if (user == Kind::kAlias) return;  // counted through it
    auto& uses = uses_[&value.node()];
    ++uses.count;
    uses.by_opaque |= user == Kind::kOpaque || user == Kind::kReduction;
  }

  bool is_written(const Node& node) {
    const Kind kind = kind_of(node);
    const auto& uses = uses_[&node];
    if (kind == Kind::kOpaque || kind == Kind::kReduction || uses.by_opaque) return true;
    return kind == Kind::kDear && uses.count > 1;
  }

  // The arrays that computing the node looks at, through what is computed on the way.
  std::set<size_t> reads_of(const Node& node) {
    std::set<size_t> reads;
    for (const Value& input : node.inputs()) {
      const Value source = array_of(input);
      if (const auto array = arrays_.find(key_of(source)); array != arrays_.end()) {
        reads.insert(array->second);
      } else if (const auto through = reads_.find(&source.node()); through != reads_.end()) {
        reads.insert(through->second.begin(), through->second.end());
      }
    }
    return reads;
  }

  void add_task(const Node& node) {
    const auto reads = reads_of(node);
    const Kind kind = kind_of(node);
    Task task{{reads.begin(), reads.end()}, {}, 0, kind == Kind::kCheap || kind == Kind::kDear};
    if (&node.op() == &kScanOp || &node.op() == &kWhileOp) task.scratch_bytes = body_bytes(node);
    for (int i = 0; i < node.output_count(); ++i) {
      const Key key{&node, i};
      arrays_[key] = tasks_.arrays.size();
      task.writes.push_back(tasks_.arrays.size());
      const int64_t bytes = node.shapes()[static_cast<size_t>(i)].bytes();
      tasks_.arrays.push_back({kept_.contains(key) ? 0 : bytes, &node, i});
    }
    tasks_.tasks.push_back(std::move(task));
  }

  struct Uses {
    int count = 0;
    bool by_opaque = false;
  };
  std::vector<const Node*> order_;
  std::set<Key> kept_;
  std::unordered_map<const Node*, Uses> uses_;
  std::map<Key, size_t> arrays_;
  std::unordered_map<const Node*, std::set<size_t>> reads_;
  Tasks tasks_;
};

}  // namespace

// Bodies put in place repeat each other: what the backward pass of one computes again, the compiler
// finds in the forward pass and keeps.
Values as_compiled(const Function& function, const std::function<bool(const Node&)>& use_kernel) {
  Function inlined = function;
  inlined.results = inline_calls(function.results, use_kernel);
  return merge_common_subexpressions(inlined).results;
}

Value array_of(Value value) {
  while (kind_of(value.node()) == Kind::kAlias) {
    const Node& node = value.node();
    value = node.input(node.output_count() == 1 ? 0 : value.index());
  }
  return value;
}

Tasks tasks_of(std::span<const Value> roots, std::span<const Value> kept) {
  return Builder(roots, kept).build();
}

}  // namespace hum::graph::memory
