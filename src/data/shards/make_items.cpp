#include "data/shards/make_items.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/fields_json.h"
#include "base/log.h"
#include "base/threads.h"
#include "data/shards/item_sample.h"
#include "data/shards/manifest.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

// The options that all shards of a folder share. Names are written out, so that a later release
// with other presets does not continue an older folder by accident.
Json identity(const MakeOptions& options, const ItemMaker& maker, const MakeTools& tools) {
  ItemOptions items = options.items;
  items.presets.clear();
  items.sound_fonts.clear();
  for (const Preset* preset : maker.presets()) items.presets.emplace_back(preset->name);
  for (const SoundFont* font : maker.sound_fonts()) items.sound_fonts.emplace_back(font->name);
  Json written = to_json(items);
  // Leaves out "mono", because earlier releases, which made only mono items, did not have it.
  if (items.channels == audio::Channels::kMono) written.erase("channels");
  return Json{{"version", kItemsVersion},
              {"feature_columns", kMelodyFeatures},
              {"items_per_shard", options.items_per_shard},
              {"transcriber", static_cast<bool>(tools.transcriber)},
              {"codec", tools.encoder.fingerprint},
              {"items", written}};
}

// Lends makers to threads; there are never more makers than threads.
class MakerPool {
 public:
  MakerPool(ItemOptions options, Transcriber transcriber)
      : options_(std::move(options)), transcriber_(std::move(transcriber)) {}

  ItemMaker take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        ItemMaker maker = std::move(idle_.back());
        idle_.pop_back();
        return maker;
      }
    }
    return ItemMaker(options_, transcriber_);
  }
  void give_back(ItemMaker maker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(maker));
  }

 private:
  ItemOptions options_;
  Transcriber transcriber_;
  std::mutex mutex_;
  std::vector<ItemMaker> idle_;
};

struct ShardJob {
  int64_t shard;
  uint64_t first_index;
  int64_t count;
};

std::vector<ShardJob> jobs_of(const MakeOptions& options, ProcessRank rank) {
  std::vector<ShardJob> jobs;
  const int64_t size = options.items_per_shard;
  for (int64_t shard = rank.rank; shard * size < options.count; shard += rank.ranks) {
    jobs.push_back(
        {shard, static_cast<uint64_t>(shard * size), std::min(size, options.count - shard * size)});
  }
  return jobs;
}

// The shards that are missing or damaged.
std::vector<ShardJob> missing(const std::vector<ShardJob>& jobs, const ShardLedger& ledger,
                              int threads) {
  std::vector<char> held(jobs.size());
  parallel_for(std::ssize(jobs), threads, [&](int64_t i) {
    const auto job = static_cast<size_t>(i);
    held[job] = ledger.holds(jobs[job].shard, jobs[job].count) ? 1 : 0;
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

// Makes a shard and encodes its items in groups of kItemsPerEncode. Empty after a stop signal.
std::optional<std::string> make_shard(const ShardJob& job, ItemMaker& maker,
                                      audio::Channels channels, const MakeTools& tools,
                                      ItemProgress& progress) {
  TarWriter shard;
  for (int64_t first = 0; first < job.count; first += kItemsPerEncode) {
    std::vector<TrainingItem> items;
    std::vector<StoredSound> sounds;
    std::vector<ItemSound> views;
    for (int64_t k = first; k < std::min(first + kItemsPerEncode, job.count); ++k) {
      if (tools.should_stop && tools.should_stop()) return {};
      items.push_back(maker.make(job.first_index + static_cast<uint64_t>(k)));
      progress.add_one();
      sounds.emplace_back(items.back());
    }
    for (const StoredSound& sound : sounds) views.push_back(sound.view());
    std::vector<ItemCodes> codes;
    if (tools.encoder.encode) codes = encode_items(tools.encoder, channels, views);
    for (size_t i = 0; i < items.size(); ++i) {
      add_sample(shard, items[i], sounds[i], maker.describe(items[i]),
                 codes.empty() ? nullptr : &codes[i], tools.encoder.books);
    }
  }
  return shard.finish();
}

}  // namespace

bool make_items(const std::filesystem::path& folder, const MakeOptions& options,
                const MakeTools& tools) {
  if (options.count <= 0 || options.items_per_shard <= 0) {
    fail(ExitCode::kConfig, fmt::format("{} items, {} per shard: both must be positive",
                                        options.count, options.items_per_shard));
  }
  MakerPool makers(options.items, tools.transcriber);
  auto first_maker = makers.take();
  ShardLedger ledger(folder, identity(options, first_maker, tools), tools.rank);
  makers.give_back(std::move(first_maker));
  const int threads = options.threads > 0 ? static_cast<int>(options.threads) : compute_threads();
  const auto jobs = missing(jobs_of(options, tools.rank), ledger, threads);
  int64_t items = 0;
  for (const auto& job : jobs) items += job.count;
  if (items > 0) {
    ItemProgress progress(items);
    parallel_for(std::ssize(jobs), threads, [&](int64_t i) {
      const ShardJob& job = jobs[static_cast<size_t>(i)];
      auto maker = makers.take();
      const auto archive = make_shard(job, maker, options.items.channels, tools, progress);
      if (archive) ledger.add(job.shard, job.count, *archive);
      makers.give_back(std::move(maker));
    });
  }
  return ledger.finish(options.count);
}

}  // namespace hum::data
