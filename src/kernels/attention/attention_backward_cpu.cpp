// The backward pass: the weights are recomputed from the scores and the forward pass's log-sum-exp,
// block by block. With P the weights and D = rowsum(dy y): dv = P^T dy, dP = dy v^T,
// dS = P (dP - D) scale, dq = dS k, dk = dS^T q. Source: Dao et al. 2022, algorithm 4.
#include <cstring>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_cpu_impl.h"
#include "kernels/ffi_workers.h"
#include "kernels/simd_math.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

// Per query of a block.
struct QueryTerms {
  float log_sum[kQueryBlock];
  float delta[kQueryBlock];  // D
};

// bf16 operands of the products that follow: rows of weights and of gradients (queries in pairs),
// and the gradients in pairs of keys too. f32 products use both in place.
struct Operands {
  uint16_t* weight_rows;
  uint16_t* gradient_rows;
  uint32_t* gradient_pairs;
};

// scores -> weights, dweights -> gradients of the raw products q k^T.
template <typename Floats>
HUM_INLINE void differentiate_body(float* scores, float* dweights, int64_t keys,
                                   const QueryTerms& terms, float scale) {
  for (int64_t c = 0; c < kQueryBlock; c += kLanes) {
    const Floats log_sum = simd::load<Floats>(terms.log_sum + c),
                 delta = simd::load<Floats>(terms.delta + c);
    for (int64_t at = c; at < keys * kQueryBlock; at += kQueryBlock) {
      const Floats x = simd::load<Floats>(scores + at);
      const Floats weight = simd::select(x <= kUnseen, Floats{}, simd::exponential(x - log_sum));
      simd::store(scores + at, weight);
      simd::store(dweights + at, weight * (simd::load<Floats>(dweights + at) - delta) * scale);
    }
  }
}
HUM_SIMD_FUNCTION(differentiate,
                  (float* scores, float* dweights, int64_t keys, const QueryTerms& terms,
                   float scale),
                  (scores, dweights, keys, terms, scale))

template <typename Floats>
HUM_INLINE void narrow_body(const float* weights, const float* gradients, int64_t keys,
                            const Operands& to) {
  for (int64_t s = 0; s < keys; s += 2) {
    for (int64_t c = 0; c < kQueryBlock; c += kLanes) {
      const int64_t even = s * kQueryBlock + c, odd = even + kQueryBlock;
      simd::store(to.weight_rows + even, simd::load<Floats>(weights + even));
      const Floats first = simd::load<Floats>(gradients + even);
      Floats second{};
      simd::store(to.gradient_rows + even, first);
      if (s + 1 < keys) {
        simd::store(to.weight_rows + odd, simd::load<Floats>(weights + odd));
        second = simd::load<Floats>(gradients + odd);
        simd::store(to.gradient_rows + odd, second);
      }
      const auto both = paired(first, second);
      std::memcpy(to.gradient_pairs + s / 2 * kQueryBlock + c, &both, sizeof both);
    }
  }
}
HUM_SIMD_FUNCTION(narrow,
                  (const float* weights, const float* gradients, int64_t keys, const Operands& to),
                  (weights, gradients, keys, to))

template <typename Floats, typename T>
HUM_INLINE void dot_body(const T* a, const T* b, int64_t count, float* result) {
  Floats sum{};
  for (int64_t i = 0; i < count; i += kLanes)
    sum += simd::load<Floats>(a + i) * simd::load<Floats>(b + i);
  *result = simd::sum(sum);
}
HUM_SIMD_FUNCTION(dot, (const float* a, const float* b, int64_t count, float* result),
                  (a, b, count, result))
HUM_SIMD_FUNCTION(dot, (const uint16_t* a, const uint16_t* b, int64_t count, float* result),
                  (a, b, count, result))

// Computes one key-value head with all queries that attend to it; owns the scratch memory.
template <typename T>
class Backward {
 public:
  struct Arrays {
    TensorRows<const T> in;
    HeadRows<const T> y;
    const float* log_sum;
    HeadRows<const T> dy;
    TensorRows<T> out;
  };
  Backward(const AttentionProblem& p, const Arrays& arrays, int64_t item, int64_t group)
      : p_(p), arrays_(arrays), item_(item), group_(group), arena_(thread_scratch(bytes(p))) {
    carve();
    const auto& [q, k, v] = arrays.in;
    load_rows(p, v.at(item * p.keys, group), v.token_stride, p.keys, p.keys, v_rows_);
    load_rows(p, k.at(item * p.keys, group), k.token_stride, p.keys, p.keys, k_rows_);
    k_stride_ = transpose_head(p, k_rows_, p.keys, spare_, k_columns_);
    std::fill_n(dk_, p.keys * p.head, 0.0F);
    std::fill_n(dv_, p.keys * p.head, 0.0F);
  }

  void run() {
    for (int64_t member = 0; member < p_.per_group(); ++member) {
      for (int64_t index = 0; index < p_.query_blocks(); ++index) run(member, index);
    }
    for (int64_t s = 0; s < p_.keys; ++s) {
      const int64_t token = item_ * p_.keys + s;
      write_row(dk_ + s * p_.head, 1, p_.head, arrays_.out.k.at(token, group_));
      write_row(dv_ + s * p_.head, 1, p_.head, arrays_.out.v.at(token, group_));
    }
  }

 private:
  static int64_t query_panel_words(const AttentionProblem& p) {
    return panel_words(p, kQueryBlock);
  }

  static size_t bytes(const AttentionProblem& p) {
    const auto words = [](int64_t count) { return Arena::bytes(4 * count); };
    constexpr int64_t kBlock = kKeyBlock * kQueryBlock;
    return 2 * words(p.keys * p.row_words()) + words(p.head * padded_words(p, p.keys)) +
           2 * words(p.keys * p.head) + 2 * words(p.row_words() * kPanelWidth) +
           2 * words(query_panel_words(p)) + words(p.head * kQueryBlock) + 2 * words(kBlock) +
           3 * words(kBlock / 2) + words(spare_words(p));
  }
  void carve() {
    constexpr int64_t kBlock = kKeyBlock * kQueryBlock;
    k_rows_ = arena_.take(p_.keys * p_.row_words());
    v_rows_ = arena_.take(p_.keys * p_.row_words());
    k_columns_ = arena_.take(p_.head * padded_words(p_, p_.keys));
    dk_ = arena_.take<float>(p_.keys * p_.head);
    dv_ = arena_.take<float>(p_.keys * p_.head);
    q_columns_ = arena_.take(p_.row_words() * kPanelWidth);
    dy_columns_ = arena_.take(p_.row_words() * kPanelWidth);
    q_panels_ = arena_.take(query_panel_words(p_));
    dy_panels_ = arena_.take(query_panel_words(p_));
    dq_ = arena_.take<float>(p_.head * kQueryBlock);
    scores_ = arena_.take<float>(kBlock);
    dweights_ = arena_.take<float>(kBlock);
    operands_.weight_rows = arena_.take<uint16_t>(kBlock);
    operands_.gradient_rows = arena_.take<uint16_t>(kBlock);
    operands_.gradient_pairs = arena_.take(kBlock / 2);
    spare_ = arena_.take(spare_words(p_));
  }

  void load_queries(const T* from, int64_t stride, int64_t count, uint32_t* columns,
                    uint32_t* panels) {
    load_rows(p_, from, stride, count, kQueryBlock, spare_);
    transpose_words(spare_, p_.row_words(), kQueryBlock, p_.row_words(), columns, kPanelWidth);
    pack_rows(p_.word, spare_, p_.row_words(), kQueryBlock, p_.head, panels);
  }

  void run(int64_t member, int64_t index) {
    const int64_t query = index * kQueryBlock, head = group_ * p_.per_group() + member;
    const int64_t count = std::min(kQueryBlock, p_.queries - query);
    const int64_t token = item_ * p_.queries + query;
    const auto& [in, y, log_sums, dy, out] = arrays_;
    load_queries(in.q.at(token, group_, member), in.q.token_stride, count, q_columns_, q_panels_);
    load_queries(dy.at(token, group_, member), dy.token_stride, count, dy_columns_, dy_panels_);
    const float* log_sum = log_sums + (item_ * p_.heads + head) * p_.queries + query;
    std::copy_n(log_sum, count, terms_.log_sum);
    std::fill_n(terms_.log_sum + count, kQueryBlock - count, 0.0F);
    std::fill_n(terms_.delta, kQueryBlock, 0.0F);
    for (int64_t t = 0; t < count; ++t) {
      dot(dy.at(token + t, group_, member), y.at(token + t, group_, member), p_.head,
          &terms_.delta[t]);
    }
    std::fill_n(dq_, p_.head * kQueryBlock, 0.0F);
    const auto [begin, end] = p_.visible_keys(query);
    for (int64_t key = begin; key < end; key += kKeyBlock) {
      add_keys(key, std::min(kKeyBlock, end - key), p_.first + query);
    }
    transpose_words(reinterpret_cast<const uint32_t*>(dq_), kQueryBlock, p_.head, kQueryBlock,
                    spare_, p_.head);
    for (int64_t t = 0; t < count; ++t) {
      write_row(reinterpret_cast<const float*>(spare_) + t * p_.head, 1, p_.head,
                out.q.at(token + t, group_, member));
    }
  }

  // [keys][64] = rows of keys times columns of queries.
  void products(const uint32_t* rows, int64_t key, int64_t count, const uint32_t* columns,
                float* to) {
    multiply_panel(p_.word, {.a = rows + key * p_.row_words(),
                             .a_stride = p_.row_words(),
                             .b = columns,
                             .c = to,
                             .c_stride = kQueryBlock,
                             .rows = count,
                             .words = p_.head_words()});
  }
  // to[keys, head] += block[keys, queries] panels[queries, head]
  void add_product(const void* block, int64_t count, const uint32_t* panels, float* to) {
    const int64_t words = words_of(p_.word, kQueryBlock);
    multiply_panels(p_.word,
                    {.a = static_cast<const uint32_t*>(block),
                     .a_stride = words,
                     .b = panels,
                     .c = to,
                     .c_stride = p_.head,
                     .rows = count,
                     .words = words,
                     .accumulate = true},
                    p_.head);
  }

  void add_keys(int64_t key, int64_t count, int64_t position) {
    products(k_rows_, key, count, q_columns_, scores_);
    scale_and_mask(p_, {scores_, count, key, position},
                   p_.key_mask == nullptr ? nullptr : p_.key_mask + item_ * p_.keys);
    products(v_rows_, key, count, dy_columns_, dweights_);
    differentiate(scores_, dweights_, count, terms_, p_.scale);
    const bool paired = p_.word == Word::kBF16Pair;
    if (paired) narrow(scores_, dweights_, count, operands_);
    const void* weights = paired ? static_cast<const void*>(operands_.weight_rows) : scores_;
    const void* gradients = paired ? static_cast<const void*>(operands_.gradient_rows) : dweights_;
    add_product(weights, count, dy_panels_, dv_ + key * p_.head);
    add_product(gradients, count, q_panels_, dk_ + key * p_.head);
    const auto* pairs = reinterpret_cast<const uint32_t*>(dweights_);
    multiply_panel(p_.word, {.a = k_columns_ + words_of(p_.word, key),
                             .a_stride = k_stride_,
                             .b = paired ? operands_.gradient_pairs : pairs,
                             .c = dq_,
                             .c_stride = kQueryBlock,
                             .rows = p_.head,
                             .words = words_of(p_.word, count),
                             .accumulate = true});
  }

  const AttentionProblem& p_;
  const Arrays& arrays_;
  int64_t item_, group_;
  Arena arena_;
  uint32_t *k_rows_, *v_rows_, *k_columns_, *q_columns_, *dy_columns_, *q_panels_, *dy_panels_;
  uint32_t* spare_;
  float *dk_, *dv_, *dq_, *scores_, *dweights_;
  Operands operands_;
  QueryTerms terms_;
  int64_t k_stride_;
};

template <typename T>
void run_backward(const pjrt::ffi::Call& call) {
  const AttentionProblem p(call, 3);
  const int more = p.tensors();
  const auto like_queries = [&](int i) {
    return p.query_rows(call.argument(more + i).template as<const T>().data());
  };
  const typename Backward<T>::Arrays arrays = {
      tensor_rows<const T>(p, [&](int i) { return call.argument(i); }), like_queries(0),
      call.argument(more + 1).as<const float>().data(), like_queries(2),
      tensor_rows<T>(p, [&](int i) { return call.result(i); })};
  CallWorkers workers(call);
  for_each_chunk(workers, p.batch * p.groups, [&](int64_t task) {
    Backward<T>(p, arrays, task / p.groups, task % p.groups).run();
  });
}

void attention_grad_handler(const pjrt::ffi::Call& call) {
  call.argument(0).is_bf16() ? run_backward<uint16_t>(call) : run_backward<float>(call);
}

}  // namespace

const Kernel kAttentionGradKernel = {
    {"hum.attention_grad", 2, &pjrt::ffi::handler<attention_grad_handler>}, attention_available};

}  // namespace hum::kernels
