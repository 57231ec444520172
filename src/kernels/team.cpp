#include "kernels/team.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

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
  explicit Loops(int members) : shares_(static_cast<size_t>(members)) {}

  // The caller's part of a loop.
  void run(int64_t count, const std::function<void(int64_t)>& body) {
    count_ = count;
    body_ = &body;
    unfinished_ = count;
    const uint32_t loop = (loop_ + 1) % kOver;
    for (size_t i = 0; i < shares_.size(); ++i) {
      shares_[i].state = uint64_t{loop} << 32 | static_cast<uint64_t>(end_of(i) - begin_of(i));
    }
    loop_ = loop;
    loop_.notify_all();
    run_chunks(0);
    spin_until([&] { return unfinished_ == 0; });
    for (int64_t left = unfinished_; left != 0; left = unfinished_) unfinished_.wait(left);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  // A helper's life.
  void help() {
    const size_t member = joined_++ % shares_.size();
    for (;;) {
      const uint32_t loop = loop_;
      if (loop == kOver) return;
      run_chunks(member);
      if (!spin_until([&] { return loop_ != loop; })) loop_.wait(loop);
    }
  }

  void end() {
    loop_ = kOver;
    loop_.notify_all();
  }

 private:
  static constexpr uint32_t kOver = ~uint32_t{0};

  // A member's part of the chunks, which are neighbours in memory as a rule. `state`: the loop's
  // number in the high half, so that a claim by a thread that has slept since an earlier loop
  // fails; the number of unclaimed chunks in the low half.
  struct alignas(64) Share {
    std::atomic<uint64_t> state = 0;
  };
  int64_t begin_of(size_t share) const {
    return count_ * static_cast<int64_t>(share) / std::ssize(shares_);
  }
  int64_t end_of(size_t share) const { return begin_of(share + 1); }

  // Runs the member's own chunks, then what is left of the others'.
  void run_chunks(size_t member) {
    for (size_t i = 0; i < shares_.size(); ++i) {
      while (run_chunk((member + i) % shares_.size())) continue;
    }
  }

  // Claims a chunk of a share and runs it; false if none is left. While a chunk is claimed the loop
  // is not over, so its body and count stay as they are.
  bool run_chunk(size_t share) {
    std::atomic<uint64_t>& state = shares_[share].state;
    uint64_t seen = state;
    do {
      if (static_cast<uint32_t>(seen) == 0) return false;
    } while (!state.compare_exchange_weak(seen, seen - 1));
    try {
      (*body_)(end_of(share) - static_cast<uint32_t>(seen));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    if (--unfinished_ == 0) unfinished_.notify_all();
    return true;
  }

  std::vector<Share> shares_;
  alignas(64) std::atomic<uint32_t> loop_ = 0;
  alignas(64) std::atomic<int64_t> unfinished_ = 0;
  alignas(64) int64_t count_ = 0;
  const std::function<void(int64_t)>* body_ = nullptr;
  std::atomic<size_t> joined_ = 1;  // the caller is member 0
  std::mutex mutex_;
  std::exception_ptr error_;
};

Team::Team(Workers& workers) : loops_(std::make_shared<Loops>(workers.threads())) {
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
