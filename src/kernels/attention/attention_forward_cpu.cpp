#include <cmath>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_cpu_impl.h"
#include "kernels/attention/attention_decode.h"
#include "kernels/ffi_workers.h"
#include "kernels/simd_math.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

// Running softmax of a block of queries: sum and y are sums weighted by exp(score - top).
struct Running {
  float top[kQueryBlock];
  float sum[kQueryBlock];
  float* y;  // [head][kQueryBlock]
};

// Scores -> weights in place (f32), or to `pairs` (bf16); updates sum, top and y.
template <typename Floats>
HUM_INLINE void soften_body(float* scores, int64_t keys, uint32_t* pairs, Running& running,
                            int64_t head) {
  for (int64_t c = 0; c < kQueryBlock; c += kLanes) {
    const Floats before = simd::load<Floats>(running.top + c);
    Floats top = before;
    for (int64_t s = 0; s < keys; ++s) {
      const Floats x = simd::load<Floats>(scores + s * kQueryBlock + c);
      top = simd::select(x > top, x, top);
    }
    const auto weight = [&](int64_t s) __attribute__((always_inline)) {
      const Floats x = simd::load<Floats>(scores + s * kQueryBlock + c);
      return simd::select(x <= kUnseen, Floats{}, simd::exponential(x - top));
    };
    Floats sum{};
    if (pairs == nullptr) {
      for (int64_t s = 0; s < keys; ++s) {
        const Floats w = weight(s);
        simd::store(scores + s * kQueryBlock + c, w);
        sum += w;
      }
    } else {
      for (int64_t s = 0; s < keys; s += 2) {
        const Floats even = weight(s), odd = s + 1 < keys ? weight(s + 1) : Floats{};
        const auto both = paired(even, odd);
        std::memcpy(pairs + s / 2 * kQueryBlock + c, &both, sizeof both);
        sum += even + odd;
      }
    }
    const Floats shrink = simd::exponential(before - top);
    simd::store(running.sum + c, simd::load<Floats>(running.sum + c) * shrink + sum);
    simd::store(running.top + c, top);
    for (int64_t i = 0; i < head; ++i) {
      float* y = running.y + i * kQueryBlock + c;
      simd::store(y, simd::load<Floats>(y) * shrink);
    }
  }
}
HUM_SIMD_FUNCTION(soften,
                  (float* scores, int64_t keys, uint32_t* pairs, Running& running, int64_t head),
                  (scores, keys, pairs, running, head))

// Computes the query blocks of one key-value head; owns the scratch memory.
template <typename T>
class Forward {
 public:
  using Arrays = AttentionArrays<T>;
  Forward(const AttentionProblem& p, const Arrays& arrays, int64_t item, int64_t group)
      : p_(p), arrays_(arrays), item_(item), group_(group), arena_(thread_scratch(bytes(p))) {
    k_rows_ = arena_.take(p.keys * p.row_words());
    v_columns_ = arena_.take(p.head * padded_words(p, p.keys));
    q_panel_ = arena_.take(p.row_words() * kPanelWidth);
    scores_ = arena_.take<float>(kKeyBlock * kQueryBlock);
    pairs_ = arena_.take(kKeyBlock / 2 * kQueryBlock);
    running_.y = arena_.take<float>(p.head * kQueryBlock);
    spare_ = arena_.take(spare_words(p));
    const auto& [q, k, v] = arrays.tensors;
    load_rows(p, v.at(item * p.keys, group), v.token_stride, p.keys, p.keys, k_rows_);
    v_stride_ = transpose_head(p, k_rows_, p.keys, spare_, v_columns_);
    load_rows(p, k.at(item * p.keys, group), k.token_stride, p.keys, p.keys, k_rows_);
  }

  // Block `index` of query head `member` of the group.
  void run(int64_t member, int64_t index) {
    const int64_t query = index * kQueryBlock, head = group_ * p_.per_group() + member;
    const int64_t count = std::min(kQueryBlock, p_.queries - query);
    const int64_t token = item_ * p_.queries + query;
    const auto& q = arrays_.tensors.q;
    load_rows(p_, q.at(token, group_, member), q.token_stride, count, kQueryBlock, spare_);
    transpose_words(spare_, p_.row_words(), kQueryBlock, p_.row_words(), q_panel_, kPanelWidth);
    std::fill_n(running_.top, kQueryBlock, kUnseen);
    std::fill_n(running_.sum, kQueryBlock, 0.0F);
    std::fill_n(running_.y, p_.head * kQueryBlock, 0.0F);
    const auto [begin, end] = p_.visible_keys(query);
    for (int64_t key = begin; key < end; key += kKeyBlock) {
      add_keys(key, std::min(kKeyBlock, end - key), p_.first + query);
    }
    write(arrays_.y.at(token, group_, member), arrays_.y.token_stride, count,
          arrays_.log_sum + (item_ * p_.heads + head) * p_.queries + query);
  }

 private:
  static size_t bytes(const AttentionProblem& p) {
    const auto words = [](int64_t count) { return Arena::bytes(4 * count); };
    return words(p.keys * p.row_words()) + words(p.head * padded_words(p, p.keys)) +
           words(p.row_words() * kPanelWidth) + words(kKeyBlock * kQueryBlock) +
           words(kKeyBlock / 2 * kQueryBlock) + words(p.head * kQueryBlock) + words(spare_words(p));
  }

  void add_keys(int64_t key, int64_t count, int64_t position) {
    multiply_panel(p_.word, {.a = k_rows_ + key * p_.row_words(),
                             .a_stride = p_.row_words(),
                             .b = q_panel_,
                             .c = scores_,
                             .c_stride = kQueryBlock,
                             .rows = count,
                             .words = p_.head_words()});
    scale_and_mask(p_, {scores_, count, key, position},
                   p_.key_mask == nullptr ? nullptr : p_.key_mask + item_ * p_.keys);
    const bool paired = p_.word == Word::kBF16Pair;
    soften(scores_, count, paired ? pairs_ : nullptr, running_, p_.head);
    multiply_panel(p_.word, {.a = v_columns_ + words_of(p_.word, key),
                             .a_stride = v_stride_,
                             .b = paired ? pairs_ : reinterpret_cast<const uint32_t*>(scores_),
                             .c = running_.y,
                             .c_stride = kQueryBlock,
                             .rows = p_.head,
                             .words = words_of(p_.word, count),
                             .accumulate = true});
  }

  void write(T* y, int64_t stride, int64_t count, float* log_sum) {
    transpose_words(reinterpret_cast<const uint32_t*>(running_.y), kQueryBlock, p_.head,
                    kQueryBlock, spare_, p_.head);
    const auto* rows = reinterpret_cast<const float*>(spare_);
    for (int64_t t = 0; t < count; ++t) {
      const float sum = std::max(running_.sum[t], 1e-30F);
      write_row(rows + t * p_.head, 1 / sum, p_.head, y + t * stride);
      log_sum[t] = running_.top[t] + std::log(sum);
    }
  }

  const AttentionProblem& p_;
  const Arrays& arrays_;
  int64_t item_, group_;
  Arena arena_;
  uint32_t *k_rows_, *v_columns_, *q_panel_, *pairs_, *spare_;
  float* scores_;
  int64_t v_stride_;
  Running running_;
};

template <typename T>
void run_forward(const pjrt::ffi::Call& call) {
  const AttentionProblem p(call, 0);
  const AttentionArrays<T> arrays = {
      tensor_rows<const T>(p, [&](int i) { return call.argument(i); }),
      p.query_rows(call.result(0).template as<T>().data()),
      call.result(1).template as<float>().data()};
  CallWorkers workers(call);
  if (is_decode(p)) return decode(p, arrays, workers);
  // With few heads, each is split into runs of query blocks.
  constexpr int64_t kTasksPerThread = 4;
  const int64_t units = p.per_group() * p.query_blocks(), pairs = p.batch * p.groups;
  const int64_t wanted = (workers.threads() * kTasksPerThread + pairs - 1) / pairs;
  const int64_t cuts = workers.threads() > 1 ? std::clamp<int64_t>(wanted, 1, units) : 1;
  for_each_chunk(workers, pairs * cuts, [&](int64_t task) {
    const int64_t pair = task / cuts, cut = task % cuts;
    Forward<T> forward(p, arrays, pair / p.groups, pair % p.groups);
    for (int64_t unit = units * cut / cuts; unit < units * (cut + 1) / cuts; ++unit) {
      forward.run(unit / p.query_blocks(), unit % p.query_blocks());
    }
  });
}

void attention_handler(const pjrt::ffi::Call& call) {
  call.argument(0).is_bf16() ? run_forward<uint16_t>(call) : run_forward<float>(call);
}

}  // namespace

const Kernel kAttentionKernel = {{"hum.attention", 2, &pjrt::ffi::handler<attention_handler>},
                                 attention_available};

}  // namespace hum::kernels
