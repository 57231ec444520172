#include "bench/hear/hum_sets.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "audio/io.h"
#include "audio/resample.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "bench/locations.h"
#include "bench/peers.h"
#include "bench/program.h"
#include "data/synthesis/timing.h"

namespace hum::bench::hear {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpeaker = "flite";
constexpr size_t kBabbleVoices = 3;

fs::path tool() { return source_folder() / "tools/second_voice.py"; }

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::exists(fs::path(folder) / program)) return true;
  }
  return false;
}

std::vector<KnownSound> sung_by_first_voice(const Condition& condition, const ConditionSet& set) {
  std::vector<KnownSound> hums;
  for (uint64_t index = 0; std::ssize(hums) < set.hums; ++index) {
    data::SungItem item = data::make_sung_item(set.seed, index, condition.singer);
    if (item.notes.empty()) continue;
    KnownSound hum{std::move(item.samples), {}};
    for (const auto& note : item.notes) hum.notes.push_back({note.start_s, note.end_s, note.hz});
    hums.push_back(std::move(hum));
  }
  return hums;
}

Sound read_clean(const std::string& path) {
  const audio::AudioBuffer mono = audio::read_mono(path);
  return audio::resample(mono.samples, mono.rate_hz, data::kSampleRate);
}

KnownSound read_hum(const std::string& stem) {
  KnownSound hum{read_clean(stem + ".wav"), {}};
  if (fs::exists(stem + "_babble.wav")) hum.babble = read_clean(stem + "_babble.wav");
  const Json known = read_json(stem + ".json");
  for (const Json& note : known.at("notes")) {
    hum.notes.push_back({note.at("start"), note.at("end"), note.at("hz")});
  }
  return hum;
}

std::vector<KnownSound> sung_by_second_voice(const Condition& condition, const ConditionSet& set) {
  const ScratchFolder folder;
  run_program({fmt::format("{}/{}/bin/python", kBuildFolder, kPeersNotes), tool().string(),
               "--condition", condition.second_voice, "--count", std::to_string(set.hums), "--seed",
               std::to_string(set.seed), folder / "hums"});
  std::vector<KnownSound> hums;
  for (int64_t i = 0; i < set.hums; ++i) {
    hums.push_back(read_hum(folder / fmt::format("hums/{:04}", i)));
  }
  return hums;
}

// The sum of the hums that follow this one.
Sound babble_beside(const std::vector<KnownSound>& hums, size_t index) {
  Sound babble(hums[index].sound.size());
  for (size_t voice = 1; voice <= kBabbleVoices; ++voice) {
    const Sound& other = hums[(index + voice) % hums.size()].sound;
    for (size_t i = 0; i < babble.size(); ++i) babble[i] += other[i % other.size()];
  }
  return babble;
}

}  // namespace

std::string second_voice_missing() {
  if (!fs::exists(tool())) return "the second voice needs tools/second_voice.py";
  if (!is_installed(kPeersNotes)) return "the second voice needs bench/peers/install.sh";
  if (!is_on_path(kSpeaker)) return "the second voice needs flite";
  return {};
}

std::vector<KnownSound> make_hums(const std::string& voice, const Condition& condition,
                                  const ConditionSet& set) {
  auto hums = voice == kFirstVoice ? sung_by_first_voice(condition, set)
                                   : sung_by_second_voice(condition, set);
  if (condition.sound.babble_db > data::Conditions::kAbsent) {
    for (size_t i = 0; i < hums.size(); ++i) {
      if (hums[i].babble.empty()) hums[i].babble = babble_beside(hums, i);
    }
  }
  for (size_t i = 0; i < hums.size(); ++i) {
    Rng rng(set.seed, fmt::format("hear, {}, {}", voice, condition.name), i);
    data::apply(condition.sound, hums[i].babble, rng, hums[i].sound);
  }
  return hums;
}

std::vector<Sound> sounds_of(const std::vector<KnownSound>& hums) {
  std::vector<Sound> sounds;
  for (const KnownSound& hum : hums) sounds.push_back(hum.sound);
  return sounds;
}

}  // namespace hum::bench::hear
