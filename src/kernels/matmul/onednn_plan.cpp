#include "kernels/matmul/onednn_plan.h"

#include <omp.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/error.h"

namespace hum::kernels {
namespace {

using dnnl::memory;

dnnl::cpu_isa to_onednn(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return dnnl::cpu_isa::sse41;
    case Isa::kAvx2:
      return dnnl::cpu_isa::avx2;
    case Isa::kAvx512:
      return dnnl::cpu_isa::avx512_core_vnni;
    case Isa::kAvx512Bf16:
      return dnnl::cpu_isa::avx512_core_bf16;
    case Isa::kAmx:
      return dnnl::cpu_isa::all;
  }
  HUM_CHECK(false, "unknown instruction set");
}

Isa from_onednn(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx2_vnni:
      return Isa::kAvx2;
    case dnnl::cpu_isa::avx512_core:
    case dnnl::cpu_isa::avx512_core_vnni:
      return Isa::kAvx512;
    case dnnl::cpu_isa::avx512_core_bf16:
      return Isa::kAvx512Bf16;
    case dnnl::cpu_isa::avx512_core_amx:
      return Isa::kAmx;
    default:
      return Isa::kBaseline;
  }
}

const dnnl::engine& engine() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

memory::data_type to_onednn(graph::DType dtype) {
  return dtype == graph::DType::kBF16 ? memory::data_type::bf16 : memory::data_type::f32;
}

memory::desc matrix(int64_t rows, int64_t columns, int64_t stride, bool transposed,
                    graph::DType dtype) {
  const memory::dims strides = transposed ? memory::dims{1, stride} : memory::dims{stride, 1};
  return {{rows, columns}, to_onednn(dtype), strides};
}

dnnl::matmul::primitive_desc describe(const Block& block) {
  const Product& p = block.product;
  dnnl::primitive_attr attributes;
  // The default keeps scratch memory inside the primitive: two threads would share it.
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return {{matrix(p.m, p.k, block.a_stride, p.transpose_a, p.in),
           matrix(p.k, p.n, block.b_stride, p.transpose_b, p.in),
           matrix(p.m, p.n, block.c_stride, false, p.out)},
          attributes,
          engine()};
}

struct BlockHash {
  size_t operator()(const Block& block) const {
    const Product& p = block.product;
    size_t hash = 0;
    for (const int64_t part : {p.m, p.n, p.k, block.a_stride, block.b_stride, block.c_stride,
                               int64_t{p.transpose_a} * 2 + int64_t{p.transpose_b},
                               static_cast<int64_t>(p.in) * 16 + static_cast<int64_t>(p.out)}) {
      hash = hash * 0x9e3779b97f4a7c15ULL + std::hash<int64_t>()(part);
    }
    return hash;
  }
};

// The process's plans. A plan is some kB and shapes are static, so none is ever evicted.
class PlanCache {
 public:
  const MatmulPlan& get(const Block& block) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = plans_.find(block);
      if (found != plans_.end()) return *found->second;
    }
    auto plan = std::make_unique<MatmulPlan>(block);
    const std::unique_lock lock(mutex_);
    return *plans_.try_emplace(block, std::move(plan)).first->second;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<Block, std::unique_ptr<MatmulPlan>, BlockHash> plans_;
};

// oneDNN would start an OpenMP team for every thread that calls it; the work is split by
// for_each_chunk instead, and oneDNN computes each block on the calling thread.
void compute_on_this_thread_alone() {
  thread_local bool done = false;
  if (done) return;
  omp_set_num_threads(1);
  done = true;
}

}  // namespace

MatmulPlan::MatmulPlan(const Block& block) {
  onednn_isa();  // caps the instruction set before the first kernel is generated
  compute_on_this_thread_alone();
  primitive_desc_ = describe(block);
  primitive_ = dnnl::matmul(primitive_desc_);
  scratch_bytes_ = primitive_desc_.scratchpad_desc().get_size();
}

void MatmulPlan::execute(const void* a, const void* b, void* c, void* scratch) const {
  compute_on_this_thread_alone();
  const auto bind = [](const memory::desc& desc, const void* data) {
    return memory(desc, engine(), const_cast<void*>(data));
  };
  thread_local dnnl::stream stream(engine());
  primitive_.execute(stream,
                     {{DNNL_ARG_SRC, bind(primitive_desc_.src_desc(), a)},
                      {DNNL_ARG_WEIGHTS, bind(primitive_desc_.weights_desc(), b)},
                      {DNNL_ARG_DST, bind(primitive_desc_.dst_desc(), c)},
                      {DNNL_ARG_SCRATCHPAD, bind(primitive_desc_.scratchpad_desc(), scratch)}});
}

const MatmulPlan& plan_for(const Block& block) {
  static auto& cache = *new PlanCache;  // never destroyed: the plugin's threads may outlive main
  return cache.get(block);
}

Isa onednn_isa() {
  static const Isa kIsa = [] {
    // Only when capped: setting it would override ONEDNN_MAX_CPU_ISA. oneDNN refuses if it has
    // already generated a kernel; the effective level below is still right.
    if (chosen_isa() < detect_isa()) dnnl::set_max_cpu_isa(to_onednn(chosen_isa()));
    return std::min(chosen_isa(), from_onednn(dnnl::get_effective_cpu_isa()));
  }();
  return kIsa;
}

}  // namespace hum::kernels
