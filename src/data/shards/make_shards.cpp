#include "data/shards/make_shards.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "data/shards/manifest.h"

namespace hum::data {
namespace {

struct ShardJob {
  int64_t shard;
  ShardItems items;
};

std::vector<ShardJob> jobs_of(const ShardPlan& plan) {
  std::vector<ShardJob> jobs;
  const int64_t size = plan.items_per_shard;
  for (int64_t shard = plan.rank.rank; shard * size < plan.count; shard += plan.rank.ranks) {
    jobs.push_back(
        {shard, {static_cast<uint64_t>(shard * size), std::min(size, plan.count - shard * size)}});
  }
  return jobs;
}

// The shards that are missing or damaged.
std::vector<ShardJob> missing(const std::vector<ShardJob>& jobs, const ShardLedger& ledger,
                              int threads) {
  std::vector<char> held(jobs.size());
  parallel_for(std::ssize(jobs), threads, [&](int64_t i) {
    const auto job = static_cast<size_t>(i);
    held[job] = ledger.holds(jobs[job].shard, jobs[job].items.count) ? 1 : 0;
  });
  std::vector<ShardJob> result;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (held[i] == 0) result.push_back(jobs[i]);
  }
  return result;
}

// Counts the items of all threads and their rate.
class ItemProgress {
 public:
  explicit ItemProgress(int64_t total) : progress_("making items", total) {}
  void add_one() {
    const std::lock_guard lock(mutex_);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    ++done_;
    progress_.update(done_,
                     fmt::format("{:.1f} items/s", static_cast<double>(done_) / seconds.count()));
  }

 private:
  Progress progress_;
  std::mutex mutex_;
  int64_t done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

MakeShard one_by_one(std::function<bool()> should_stop,
                     std::function<void(TarWriter& shard, uint64_t index)> add) {
  return [should_stop = std::move(should_stop), add = std::move(add)](
             const ShardItems& items,
             const std::function<void()>& made_one) -> std::optional<std::string> {
    TarWriter shard;
    for (int64_t i = 0; i < items.count; ++i) {
      if (should_stop && should_stop()) return std::nullopt;
      add(shard, items.first_index + static_cast<uint64_t>(i));
      made_one();
    }
    return shard.finish();
  };
}

bool make_shards(const std::filesystem::path& folder, const Json& options, const ShardPlan& plan,
                 const MakeShard& make) {
  if (plan.count <= 0 || plan.items_per_shard <= 0) {
    fail(ExitCode::kConfig, fmt::format("{} items, {} per shard: both must be positive", plan.count,
                                        plan.items_per_shard));
  }
  ShardLedger ledger(folder, options, plan.rank);
  const int threads = plan.threads > 0 ? plan.threads : compute_threads();
  const auto jobs = missing(jobs_of(plan), ledger, threads);
  int64_t items = 0;
  for (const ShardJob& job : jobs) items += job.items.count;
  if (items > 0) {
    ItemProgress progress(items);
    parallel_for(std::ssize(jobs), threads, [&](int64_t i) {
      const ShardJob& job = jobs[static_cast<size_t>(i)];
      const auto archive = make(job.items, [&] { progress.add_one(); });
      if (archive) ledger.add(job.shard, job.items.count, *archive);
    });
  }
  return ledger.finish(plan.count);
}

}  // namespace hum::data
