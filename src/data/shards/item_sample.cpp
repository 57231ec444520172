#include "data/shards/item_sample.h"

#include <algorithm>
#include <charconv>

#include "audio/buffer.h"
#include "audio/notes_json.h"
#include "base/error.h"
#include "data/shards/array_files.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

// Only what items are made of, in the form of all releases.
Json notes_to_json(std::span<const audio::Note> notes) {
  Json list = Json::array();
  for (const audio::Note& note : notes) {
    list.push_back({{"start", note.start_s},
                    {"end", note.end_s},
                    {"pitch", note.pitch},
                    {"amplitude", note.amplitude},
                    {"bends", note.bends}});
  }
  return list;
}

std::vector<audio::Note> notes_from_json(const Json& list) {
  std::vector<audio::Note> notes;
  for (const Json& note : list) notes.push_back(audio::note_from_json(note));
  return notes;
}

constexpr const char* kReferenceNotes = "reference";

[[noreturn]] void damaged(uint64_t index, std::string_view what) {
  fail(ExitCode::kBadData, fmt::format("item {}: {}", index, what),
       "`hum data verify` names the damaged shards");
}

// Row-major; the first dim follows from the size.
template <typename T>
std::string table_file(const std::vector<T>& values, int64_t columns) {
  const int64_t dims[] = {std::ssize(values) / columns, columns};
  return npy_file<T>(dims, values);
}

// The codes of two signals. Shapes: twice [kItemFrames, K] -> [2, kItemFrames, K].
std::string pair_file(std::vector<uint16_t> first, const std::vector<uint16_t>& second) {
  HUM_REQUIRE(first.size() == second.size(), "add_features: {} codes beside {}", first.size(),
              second.size());
  const int64_t dims[] = {2, kItemFrames, std::ssize(first) / kItemFrames};
  first.insert(first.end(), second.begin(), second.end());
  return npy_file<uint16_t>(dims, first);
}

void read_member(ItemView& item, std::string_view suffix, std::string_view bytes) {
  if (suffix == "target.wav") item.target = wav_samples(bytes);
  if (suffix == "reference.wav") item.reference = wav_samples(bytes);
  if (suffix == "features.npy") item.features = npy_values<float>(bytes);
  if (suffix == "codes.npy") item.codes = npy_values<uint16_t>(bytes);
  if (suffix == "reference_codes.npy") item.reference_codes = npy_values<uint16_t>(bytes);
  if (suffix == "audio-feature.npy") item.stereo_codes = npy_values<uint16_t>(bytes);
  if (suffix == "sine-audio-feature.npy") item.mono_codes = npy_values<uint16_t>(bytes);
  if (suffix == "mono.wav") item.mono_sound = wav_samples(bytes);
  if (suffix == "notes.json") item.notes_json = bytes;
  if (suffix == "meta.json") item.meta_json = bytes;
}

}  // namespace

std::string item_key(uint64_t index) { return fmt::format("{:09}", index); }

ItemNotes ItemView::notes() const {
  try {
    const Json json = parse_json(notes_json);
    return {notes_from_json(json.at("melody")), notes_from_json(json.at("played"))};
  } catch (const Json::exception& error) {
    damaged(index, fmt::format("notes.json: {}", error.what()));
  }
}

std::vector<audio::Note> ItemView::reference_notes() const {
  try {
    const Json json = parse_json(notes_json);
    if (json.contains(kReferenceNotes)) return notes_from_json(json.at(kReferenceNotes));
  } catch (const Json::exception& error) {
    damaged(index, fmt::format("notes.json: {}", error.what()));
  }
  fail(ExitCode::kBadData, fmt::format("item {}: the notes of its reference are not stored", index),
       "an earlier release made these items; make new ones: hum data make --config FILE -o FOLDER");
}

Json ItemView::meta() const {
  try {
    return parse_json(meta_json);
  } catch (const Json::exception& error) {
    damaged(index, fmt::format("meta.json: {}", error.what()));
  }
}

std::vector<std::vector<float>> coded_sound(std::span<const int16_t> stored,
                                            int64_t stored_channels, audio::Channels channels) {
  std::vector<float> sound(stored.size());
  to_float(stored, sound);
  const int64_t wanted = audio::channel_count(channels);
  if (stored_channels == wanted) return audio::coded_channels(sound, channels);
  if (wanted == 1) return {audio::coded_channels(sound, audio::Channels::kMidSide).front()};
  const auto both = audio::widened({kSampleRate, 1, std::move(sound)}, static_cast<int>(wanted));
  return audio::coded_channels(both.samples, channels);
}

StoredSound::StoredSound(const TrainingItem& item)
    : target(to_int16(item.target)), reference(to_int16(item.reference)) {}

void add_codes(TarWriter& shard, uint64_t index, const ItemCodes& codes, int64_t books) {
  shard.add(item_key(index) + ".codes.npy",
            table_file(codes.target, std::ssize(codes.target) / kItemFrames));
  shard.add(item_key(index) + ".reference_codes.npy", table_file(codes.reference, books));
}

void add_sample(TarWriter& shard, const TrainingItem& item, const StoredSound& sound,
                const Json& meta, const ItemCodes* codes, int64_t books) {
  const std::string key = item_key(item.index);
  const Json notes = {{"melody", notes_to_json(item.melody)},
                      {"played", notes_to_json(item.played)},
                      {kReferenceNotes, notes_to_json(item.reference_notes)}};
  shard.add(key + ".meta.json", to_text(meta));
  shard.add(key + ".notes.json", to_text(notes));
  shard.add(key + ".features.npy", table_file(item.features, kMelodyFeatures));
  if (codes != nullptr) add_codes(shard, item.index, *codes, books);
  shard.add(key + ".reference.wav", wav_file(sound.reference));
  shard.add(key + ".target.wav",
            wav_file(sound.target, static_cast<int>(std::ssize(sound.target) / kItemSamples)));
}

std::string feature_key(const std::string& recording, int64_t window) {
  return fmt::format("{}_{:06}", recording.substr(0, 16), window);
}

void add_features(TarWriter& shard, const FeatureSample& sample) {
  const std::string key = feature_key(sample.recording, sample.window);
  const Json melody = notes_to_json(sample.notes);
  const Json notes = {{"melody", melody},
                      {"played", melody},
                      {kReferenceNotes, notes_to_json(sample.reference_notes)}};
  shard.add(key + ".meta.json", to_text(sample.meta));
  shard.add(key + ".notes.json", to_text(notes));
  shard.add(key + ".features.npy", table_file(sample.features, kMelodyFeatures));
  shard.add(key + ".audio-feature.npy", pair_file(sample.left, sample.right));
  shard.add(key + ".sine-audio-feature.npy", pair_file(sample.mono, sample.sine));
  const int64_t books = std::ssize(sample.mono) / kItemFrames;
  shard.add(key + ".reference_codes.npy", table_file(sample.reference, books));
  if (sample.sound.empty()) return;
  shard.add(key + ".target.wav",
            wav_file(sample.sound, static_cast<int>(std::ssize(sample.sound) / kItemSamples)));
  if (!sample.mono_sound.empty()) shard.add(key + ".mono.wav", wav_file(sample.mono_sound));
}

std::vector<ItemView> read_samples(std::string_view archive) {
  std::vector<ItemView> items;
  for (const TarSample& sample : tar_samples(archive)) {
    const std::string& key = sample.key;
    ItemView& item = items.emplace_back();
    // Features: HASH_WINDOW.
    const std::string number = key.substr(key.rfind('_') + 1);
    const char* const last = number.data() + number.size();
    const auto [end, error] = std::from_chars(number.data(), last, item.index);
    if (error != std::errc{} || end != last) {
      fail(ExitCode::kBadData, fmt::format("'{}' is not the number of an item", key));
    }
    for (const TarMember& file : sample.files) {
      const ErrorContext context([&] { return fmt::format("reading {}.{}", key, file.name); });
      read_member(item, file.name, file.bytes);
    }
  }
  return items;
}

}  // namespace hum::data
