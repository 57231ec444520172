#include "app/evaluation/stem_songs.h"

#include <fmt/ranges.h>

#include <map>
#include <optional>

#include "audio/io.h"
#include "audio/sound_blocks.h"
#include "base/error.h"
#include "base/files.h"
#include "base/names.h"
#include "eval/separation/masks.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using audio::AudioBuffer;

constexpr const char* kMixture = "mixture";
constexpr double kMaxSeconds = 3600;
constexpr const char* kLayout =
    "a folder has SONG/STEM.wav, or STEM.wav of one song: drums.wav, vocals.wav";

using Files = std::map<std::string, fs::path>;

// The sound files in a folder, by name without extension.
Files sounds_in(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& file = entry.path();
    const std::string extension = audio::extension_of(file);
    if (!entry.is_regular_file() || (extension != ".wav" && extension != ".flac")) continue;
    const auto [same, is_new] = files.emplace(file.stem().string(), file);
    if (!is_new) {
      fail(ExitCode::kBadData,
           fmt::format("{} and {}: two files of one stem", same->second.string(), file.string()),
           "delete one of them");
    }
  }
  return files;
}

// The folders of songs: the folder itself under its own name if it has sounds, else those in it.
Files songs_in(const fs::path& folder) {
  require_folder(folder, kLayout);
  if (!sounds_in(folder).empty()) return {{real_path(folder).filename().string(), folder}};
  Files songs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && !sounds_in(entry.path()).empty()) {
      songs.emplace(entry.path().filename().string(), entry.path());
    }
  }
  if (songs.empty()) fail(ExitCode::kNoInput, folder.string() + ": has no stems", kLayout);
  return songs;
}

std::string names_of(const Files& files) {
  std::vector<std::string> names;
  for (const auto& [name, file] : files) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// What all files of a song have in common.
struct Form {
  int rate_hz, channels;
  int64_t frames;
};
Form form_of(const AudioBuffer& sound) { return {sound.rate_hz, sound.channels, sound.frames()}; }
// As the file's head says; none if it does not tell the length.
std::optional<Form> form_of(const fs::path& file) {
  const audio::SoundReader sound(file, kMaxSeconds);
  if (!sound.frames()) return std::nullopt;
  return Form{sound.rate_hz(), sound.channels(), *sound.frames()};
}

void require_like(const Form& form, const fs::path& file, const Form& first,
                  const fs::path& first_file) {
  const auto require = [&](int64_t has, int64_t needed, const char* unit, const char* hint) {
    if (has == needed) return;
    fail(ExitCode::kBadData,
         fmt::format("{}: {} {}, but {} has {}", file.string(), has, unit, first_file.string(),
                     needed),
         hint);
  };
  require(form.rate_hz, first.rate_hz, "Hz", "separate and judge at the rate of the references");
  require(form.channels, first.channels, form.channels == 1 ? "channel" : "channels",
          "all stems of a song have the same channels");
  require(form.frames, first.frames, "samples",
          "a stem is as long as the song; a shift of the samples would count as an error");
}

AudioBuffer read_like(const fs::path& file, const AudioBuffer& first, const fs::path& first_file) {
  AudioBuffer sound = audio::read_audio(file, kMaxSeconds);
  require_like(form_of(sound), file, form_of(first), first_file);
  return sound;
}

// Before hours of judging, as far as the heads of the files tell.
void require_alike(const StemSong& song) {
  const fs::path& first_file = song.stems[0].reference;
  const auto first = form_of(first_file);
  const auto check = [&](const fs::path& file) {
    const auto form = form_of(file);
    if (first && form) require_like(*form, file, *first, first_file);
  };
  for (const auto& [stem, reference, estimate] : song.stems) {
    check(reference);
    check(estimate);
  }
  if (!song.mixture.empty()) check(song.mixture);
}

StemSong song_of(const std::string& name, const fs::path& estimates, const fs::path& references) {
  StemSong song{.name = name};
  Files known = sounds_in(references), heard = sounds_in(estimates);
  if (known.contains(kMixture)) song.mixture = known[kMixture];
  known.erase(kMixture);
  heard.erase(kMixture);
  if (known.empty()) {
    fail(ExitCode::kNoInput, references.string() + ": has a mixture, but no stems", kLayout);
  }
  for (const auto& [stem, reference] : known) {
    if (!heard.contains(stem)) {
      fail(ExitCode::kNoInput, fmt::format("{}: has no stem '{}'", estimates.string(), stem),
           fmt::format("{} needs an estimate, if only silence", reference.string()));
    }
    song.stems.push_back({stem, reference, heard[stem]});
  }
  for (const auto& [stem, estimate] : heard) {
    if (known.contains(stem)) continue;
    fail(ExitCode::kBadData,
         fmt::format("{}: {} has no stem '{}'", estimate.string(), references.string(), stem),
         fmt::format("stems of the references: {}", names_of(known)));
  }
  require_alike(song);
  return song;
}

}  // namespace

std::vector<StemSong> find_stem_songs(const fs::path& estimates, const fs::path& references) {
  const Files known = songs_in(references), heard = songs_in(estimates);
  // The stems of one song may lie in folders of different names.
  const auto is_one = [](const Files& songs, const fs::path& folder) {
    return songs.size() == 1 && songs.begin()->second == folder;
  };
  if (is_one(known, references) && is_one(heard, estimates)) {
    return {song_of(known.begin()->first, estimates, references)};
  }
  std::vector<StemSong> songs;
  for (const auto& [name, folder] : known) {
    const auto found = heard.find(name);
    if (found == heard.end()) {
      fail(ExitCode::kNoInput, fmt::format("{}: has no song '{}'", estimates.string(), name),
           fmt::format("songs of the estimates: {}", names_of(heard)));
    }
    songs.push_back(song_of(name, found->second, folder));
  }
  for (const auto& [name, folder] : heard) {
    if (known.contains(name)) continue;
    fail(ExitCode::kBadData,
         fmt::format("{}: {} has no song '{}'", folder.string(), references.string(), name),
         fmt::format("songs of the references: {}", names_of(known)));
  }
  return songs;
}

eval::SeparatedSong read_stem_song(const StemSong& song) {
  eval::SeparatedSong result{.name = song.name};
  const fs::path& first = song.stems[0].reference;
  const auto read = [&](const fs::path& file) {
    return result.references.empty() ? audio::read_audio(file, kMaxSeconds)
                                     : read_like(file, result.references[0], first);
  };
  for (const StemPair& pair : song.stems) {
    result.stems.push_back(pair.stem);
    result.references.push_back(read(pair.reference));
    result.estimates.push_back(read(pair.estimate));
  }
  result.mixture = song.mixture.empty() ? eval::sum_of(result.references) : read(song.mixture);
  return result;
}

}  // namespace hum::app
