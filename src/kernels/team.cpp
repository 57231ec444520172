#include "kernels/team.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace hum::kernels {
namespace {

// Spins until `done`, but not longer than a thread takes to wake up. Returns whether it is done.
template <typename Done>
bool spin_until(const Done& done) {
  constexpr auto kSpin = std::chrono::microseconds(50);
  const auto start = std::chrono::steady_clock::now();
  while (!done()) {
    if (std::chrono::steady_clock::now() - start > kSpin) return false;
    __builtin_ia32_pause();
  }
  return true;
}

}  // namespace

class Team::Loops {
 public:
  // The caller's part of a loop.
  void run(int64_t count, const std::function<void(int64_t)>& body) {
    count_ = count;
    body_ = &body;
    unfinished_ = count;
    round_ += kOneRound;
    state_ = round_ + static_cast<uint64_t>(count);
    state_.notify_all();
    while (run_chunk()) continue;
    spin_until([&] { return unfinished_ == 0; });
    for (int64_t left = unfinished_; left != 0; left = unfinished_) unfinished_.wait(left);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  // A helper's life.
  void help() {
    for (;;) {
      while (run_chunk()) continue;
      const uint64_t seen = state_;
      if (seen == kOver) return;
      if (chunks_left(seen) > 0) continue;
      if (!spin_until([&] { return state_ != seen; })) state_.wait(seen);
    }
  }

  void end() {
    state_ = kOver;
    state_.notify_all();
  }

 private:
  static constexpr uint64_t kOneRound = uint64_t{1} << 32, kChunks = kOneRound - 1;
  static constexpr uint64_t kOver = ~kChunks;  // no round, no chunks
  static uint64_t chunks_left(uint64_t state) { return state & kChunks; }

  // Claims a chunk and runs it; false if none is left. While a chunk is claimed the loop is not
  // over, so its body and count stay as they are.
  bool run_chunk() {
    uint64_t state = state_;
    do {
      if (chunks_left(state) == 0) return false;
    } while (!state_.compare_exchange_weak(state, state - 1));
    try {
      (*body_)(count_ - static_cast<int64_t>(chunks_left(state)));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    if (--unfinished_ == 0) unfinished_.notify_all();
    return true;
  }

  // The loop's number in the high half, its unclaimed chunks in the low half: a claim by a thread
  // that has slept since an earlier loop fails.
  alignas(64) std::atomic<uint64_t> state_ = 0;
  alignas(64) std::atomic<int64_t> unfinished_ = 0;
  alignas(64) uint64_t round_ = 0;
  int64_t count_ = 0;
  const std::function<void(int64_t)>* body_ = nullptr;
  std::mutex mutex_;
  std::exception_ptr error_;
};

Team::Team(Workers& workers) : loops_(std::make_shared<Loops>()) {
  try {
    for (int i = 1; i < workers.threads(); ++i) {
      workers.schedule([loops = loops_] { loops->help(); });
    }
  } catch (...) {  // those that came do the work with the caller
  }
}

Team::~Team() { loops_->end(); }

void Team::for_each_chunk(int64_t count, const std::function<void(int64_t)>& body) {
  HUM_CHECK(count <= std::numeric_limits<int32_t>::max(), "{} chunks", count);
  if (count > 0) loops_->run(count, body);
}

}  // namespace hum::kernels
