#include "data/singing/sung_shards.h"

#include <algorithm>
#include <cmath>

#include "audio/notes.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/threads.h"
#include "data/shards/array_files.h"
#include "data/shards/item_sample.h"
#include "data/shards/make_shards.h"
#include "data/shards/mapped_shards.h"
#include "data/shards/tar.h"
#include "data/synthesis/conditions.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr const char* kKind = "sung";  // the key of these options in a manifest
constexpr double kEvent_s = 0.02;
constexpr int kBabbleVoices = 4;

Json identity(SungOptions options) {
  // What does not change the bytes of a shard is left out.
  Json written = to_json(options);
  for (const char* name : {"count", "threads", "items_per_shard"}) written.erase(name);
  return {{"version", kItemsVersion},
          {"items_per_shard", options.items_per_shard},
          {"codec", ""},
          {kKind, written}};
}

void add_sung(TarWriter& shard, uint64_t index, const SungItem& item) {
  const std::string key = item_key(index);
  std::vector<float> notes;
  for (const SungNote& note : item.notes) {
    for (const double value : {note.start_s, note.end_s, note.hz})
      notes.push_back(static_cast<float>(value));
  }
  const Json meta = {
      {"voice", item.singer ? Json(std::string(to_name(item.singer->kind))) : Json()}};
  const int64_t frames[] = {std::ssize(item.f0_hz)}, rows[] = {std::ssize(item.notes), 3};
  shard.add(key + ".meta.json", to_text(meta));
  shard.add(key + ".f0.npy", npy_file<float>(frames, item.f0_hz));
  shard.add(key + ".notes.npy", npy_file<float>(rows, notes));
  shard.add(key + ".audio.wav", wav_file(to_int16(item.samples)));
}

std::vector<StoredSungItem> read_sung(std::string_view archive) {
  std::vector<StoredSungItem> items;
  for (const TarSample& sample : tar_samples(archive)) {
    StoredSungItem& item = items.emplace_back();
    for (const auto& [suffix, bytes] : sample.files) {
      if (suffix == "audio.wav") item.samples = wav_samples(bytes);
      if (suffix == "f0.npy") item.f0_hz = npy_values<float>(bytes);
      if (suffix == "notes.npy") item.notes = npy_values<float>(bytes);
    }
  }
  return items;
}

// Throws: kBadData when the folder holds other items.
Manifest read_sung_manifest(const std::filesystem::path& folder) {
  Manifest manifest = read_manifest(folder);
  if (manifest.options.contains(kKind)) return manifest;
  fail(ExitCode::kBadData, folder.string() + ": holds items of instruments, not of voices",
       "hum data make --config data-voices -o FOLDER");
}

// The crop of `size` samples from `from`, silence after the end of the item.
std::vector<float> crop(const StoredSungItem& item, int64_t from, int64_t size) {
  std::vector<float> samples(static_cast<size_t>(size));
  const int64_t count = std::clamp<int64_t>(std::ssize(item.samples) - from, 0, size);
  to_float(item.samples.subspan(static_cast<size_t>(std::min(from, std::ssize(item.samples))),
                                static_cast<size_t>(count)),
           std::span(samples).first(static_cast<size_t>(count)));
  return samples;
}

float midi_or_none(float hz) { return hz > 0 ? static_cast<float>(audio::hz_to_midi(hz)) : -1.0F; }

// The labels of row b.
void label(const StoredSungItem& item, int64_t first_frame, int64_t frames, int64_t row,
           SungBatch& batch) {
  const auto at = [&](int64_t t) { return static_cast<size_t>(row * frames + t); };
  const double frame_s = static_cast<double>(kPitchHop) / kSampleRate;
  for (int64_t t = 0; t < frames; ++t) {
    const int64_t frame = first_frame + t;
    const bool known = frame < std::ssize(item.f0_hz);
    batch.f0[at(t)] = known ? midi_or_none(item.f0_hz[static_cast<size_t>(frame)]) : -1.0F;
    batch.note[at(t)] = -1;
  }
  for (size_t n = 0; n + 2 < item.notes.size(); n += 3) {
    const double start = item.notes[n] / frame_s - 0.5 - static_cast<double>(first_frame);
    const double end = item.notes[n + 1] / frame_s - 0.5 - static_cast<double>(first_frame);
    const double reach = kEvent_s / frame_s;
    const auto from = std::max<int64_t>(0, static_cast<int64_t>(std::floor(start - reach)));
    const auto to = std::min(frames, static_cast<int64_t>(std::ceil(end + reach)) + 1);
    for (int64_t t = from; t < to; ++t) {
      const auto time = static_cast<double>(t);
      if (time >= start && time < end) batch.note[at(t)] = midi_or_none(item.notes[n + 2]);
      const auto near = [&](double event) {
        return static_cast<float>(std::max(0.0, 1 - std::abs(time - event) / reach));
      };
      batch.onset[at(t)] = std::max(batch.onset[at(t)], near(start));
      batch.offset[at(t)] = std::max(batch.offset[at(t)], near(end));
    }
  }
}

}  // namespace

bool make_sung_items(const std::filesystem::path& folder, const SungOptions& options,
                     ProcessRank rank, const std::function<bool()>& should_stop) {
  if (!(options.seconds >= 1 && options.seconds <= 600) ||
      !(options.silent_share >= 0 && options.silent_share <= 1)) {
    fail(ExitCode::kConfig,
         fmt::format("seconds {} is outside 1..600, or silent_share {} outside 0..1",
                     options.seconds, options.silent_share));
  }
  const SungItemOptions item_options{.seconds = options.seconds,
                                     .silent_share = options.silent_share};
  return make_shards(
      folder, identity(options),
      {options.count, options.items_per_shard, static_cast<int>(options.threads), rank},
      one_by_one(should_stop, [&](TarWriter& shard, uint64_t index) {
        const auto seed = static_cast<uint64_t>(options.seed);
        add_sung(shard, index, make_sung_item(seed, index, item_options));
      }));
}

struct SungFolder::Impl {
  MappedShards<StoredSungItem> items;
};

SungFolder::SungFolder(const std::filesystem::path& folder)
    : impl_(std::make_unique<Impl>(Impl{{folder, read_sung_manifest(folder), read_sung}})) {}

SungFolder::~SungFolder() = default;

int64_t SungFolder::size() const { return impl_->items.size(); }

const StoredSungItem& SungFolder::operator[](int64_t i) const { return impl_->items[i]; }

SungBatch sung_batch(const SungFolder& items, const ItemOrder& order, uint64_t seed, int64_t step,
                     int64_t batch, int64_t samples, bool clean) {
  HUM_REQUIRE(samples % kPitchHop == 0, "{} samples are not whole hops of {}", samples, kPitchHop);
  const int64_t frames = samples / kPitchHop;
  const auto cells = static_cast<size_t>(batch * frames);
  SungBatch result{.audio = std::vector<float>(static_cast<size_t>(batch * samples)),
                   .f0 = std::vector<float>(cells),
                   .note = std::vector<float>(cells),
                   .onset = std::vector<float>(cells),
                   .offset = std::vector<float>(cells)};
  parallel_for(batch, compute_threads(), [&](int64_t b) {
    const int64_t position = step * batch + b;
    Rng rng(seed, "sung crop", static_cast<uint64_t>(position));
    const StoredSungItem& item = items[order.item(position)];
    const int64_t most = std::max<int64_t>(0, std::ssize(item.samples) - samples) / kPitchHop;
    const int64_t first_frame = rng.integer(0, most);
    label(item, first_frame, frames, b, result);
    auto sound = crop(item, first_frame * kPitchHop, samples);
    if (!clean) {
      const Conditions conditions = draw_conditions(rng);
      std::vector<float> babble;
      if (conditions.babble_db > Conditions::kAbsent) {
        babble.resize(sound.size());
        for (int voice = 0; voice < kBabbleVoices; ++voice) {
          const auto other = crop(items[order.item(rng.bits())], 0, samples);
          for (size_t i = 0; i < babble.size(); ++i) babble[i] += other[i];
        }
      }
      apply(conditions, babble, rng, sound);
    }
    normalise_level(sound);
    std::ranges::copy(sound, result.audio.begin() + b * samples);
  });
  return result;
}

}  // namespace hum::data
