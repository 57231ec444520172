// stems-speed: `hum separate` with our own separator, from a song to its files; its memory for an
// hour of music; and Spleeter's U-Nets on hum's engine beside PyTorch, from the magnitudes of a
// mixture to ratio masks. Not timed: of the U-Nets loading, compiling and a first call; of
// `hum separate` a first run, which compiles.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "app/session_options.h"
#include "audio/dsp.h"
#include "audio/io.h"
#include "audio/sound_blocks.h"
#include "base/elapsed.h"
#include "base/error.h"
#include "bench/bars.h"
#include "bench/extract/extraction.h"
#include "bench/peers.h"
#include "bench/program.h"
#include "bench/stems/spleeter.h"
#include "models/spleeter/config.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;
namespace spleeter = models::spleeter;
using audio::AudioBuffer;
using runtime::HostTensor;

constexpr int kCores = 2;
constexpr double kLeastSpeed = 20, kMostMemory_gb = 1.5, kLeastOfTorch = 1;
constexpr double kSong_s = 240, kSmokeSong_s = 15;
constexpr int kSongsInAnHour = 15;
constexpr int64_t kSegments = 5, kRunsPerRound = 3;  // a minute of sound, in whole segments
constexpr const char* kDemucs =
    "not measured here; its README: on a CPU, \"processing time should be roughly equal to 1.5 "
    "times the duration of the track\" (github.com/adefossez/demucs, commit 2883f3d)";

AudioBuffer read_music(double seconds, const fs::path& folder) {
  const MusicFile file{.seconds = seconds};
  return audio::read_audio(write_music(folder, {&file, 1}).front());
}

void write_repeated_song(const fs::path& path, const AudioBuffer& song, int repeats) {
  audio::SoundWriter writer(path, song.rate_hz, song.channels);
  for (int i = 0; i < repeats; ++i) writer.write(song.samples);
  writer.commit();
}

ProgramRun separate(const fs::path& song, const StemMode& mode) {
  const ScratchFolder folder;
  std::vector<std::string> arguments = {"separate", song, "-o", folder.path()};
  const auto of_mode = mode.arguments();
  arguments.insert(arguments.end(), of_mode.begin(), of_mode.end());
  return run_hum(arguments);
}

// From the song's file to those of its stems, by the clock.
void time_song(const fs::path& song, double seconds, const StemMode& mode, const Scale& scale,
               eval::Bar& bar) {
  separate(song, mode);  // compiles
  const auto run = [&]() -> Json {
    return {{"milliseconds", {1e3 * separate(song, mode).seconds}}};
  };
  const auto outcomes = alternate({{"hum", "song to files, " + mode.name, run}}, scale);
  report(bar, outcomes);
  const double speed = 1e3 * seconds / outcomes[0].ms;
  bar.ours["song_s"] = seconds;
  bar.checks.at_least(mode.name + ": x real time", speed, kLeastSpeed);
  bar.value = speed;
}

void measure_memory(const fs::path& hour, double seconds, const StemMode& mode, eval::Bar& bar) {
  const ProgramRun run = separate(hour, mode);
  bar.ours["long song, " + mode.name] = {{"song_s", seconds},
                                         {"x real time", seconds / run.seconds}};
  bar.checks.at_most(mode.name + ": memory_gb", static_cast<double>(run.peak_bytes) / 1e9,
                     kMostMemory_gb);
}

// What the U-Nets see. Shapes: [channels, frames, bins].
HostTensor magnitudes(const AudioBuffer& song) {
  const spleeter::SpleeterConfig c;
  const audio::StftOptions options{.window_samples = static_cast<int>(c.window_samples),
                                   .hop_samples = static_cast<int>(c.hop_samples)};
  std::vector<float> all;
  for (int channel = 0; channel < song.channels; ++channel) {
    std::vector<float> samples;
    for (size_t i = static_cast<size_t>(channel); i < song.samples.size();
         i += static_cast<size_t>(song.channels)) {
      samples.push_back(song.samples[i]);
    }
    const auto spectrum = audio::spectrogram(samples, options, 1);
    for (int64_t frame = 0; frame < spectrum.rows; ++frame) {
      const auto row = spectrum.row(frame).first(static_cast<size_t>(c.bins));
      all.insert(all.end(), row.begin(), row.end());
    }
  }
  const int64_t frames = std::ssize(all) / (song.channels * c.bins);
  return HostTensor::of({song.channels, frames, c.bins}, std::span<const float>(all));
}

Json time_nets(const SpleeterNets& nets, const HostTensor& mixture_CTF, int64_t runs,
               std::vector<float>& masks) {
  Json milliseconds = Json::array();
  for (int64_t i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    masks = nets.masks(mixture_CTF);
    milliseconds.push_back(1e3 * seconds_since(start));
  }
  return {{"milliseconds", milliseconds}};
}

// A clip of whole segments, so that no side computes silence.
StemSong clip_of(const AudioBuffer& song, int64_t segments) {
  const spleeter::SpleeterConfig c;
  const int64_t frames = (segments * c.frames - 1) * c.hop_samples;
  HUM_REQUIRE(frames <= song.frames(), "{} of {} frames", frames, song.frames());
  StemSong clip{.name = "clip", .mixture = song};
  clip.mixture.samples.resize(static_cast<size_t>(frames * song.channels));
  return clip;
}

void compare_nets(const AudioBuffer& song, const Scale& scale, eval::Bar& bar) {
  const std::vector<StemSong> clip = {clip_of(song, scale.smoke ? 1 : kSegments)};
  const int64_t runs = scale.smoke ? 1 : kRunsPerRound;
  runtime::Session session(app::session_options());
  const SpleeterNets nets(session);
  const HostTensor mixture_CTF = magnitudes(clip[0].mixture);
  std::vector<float> masks;
  time_nets(nets, mixture_CTF, 1, masks);
  std::vector<Contender> contenders = {
      {"hum", "U-Nets", [&] { return time_nets(nets, mixture_CTF, runs, masks); }}};
  double worst = 0;
  for (PeerSetting setting : torch_inference_settings()) {
    setting.arguments.insert(setting.arguments.end(), {"--runs", std::to_string(runs)});
    const auto run = [&, setting] {
      const auto torch = spleeter_in_torch(clip, setting);
      const auto same = mask_difference(masks, torch.named("clip.masks").as<float>(),
                                        torch.named("clip.sum").as<float>(), kLeastOfEach);
      worst = std::max(worst, same.worst);
      return torch.printed;
    };
    contenders.push_back({"PyTorch", setting.name, run, kPeers});
  }
  const auto outcomes = alternate(contenders, scale);
  report(bar, outcomes);
  bar.ours["clip_s"] = clip[0].mixture.seconds();
  const Outcome* theirs = fastest(outcomes, "PyTorch");
  if (theirs == nullptr) return;
  bar.checks.at_least("U-Nets: x PyTorch", theirs->ms / outcomes[0].ms, kLeastOfTorch);
  bar.checks.at_most("U-Nets: difference of masks", worst, kMostMask);
  bar.peer["fastest"] = theirs->name();
  bar.peer["version"] = theirs->rounds[0]["version"];
}

}  // namespace

eval::Bar stems_speed(const Scale& scale) {
  use_cores(kCores);
  const double song_s = scale.smoke ? kSmokeSong_s : kSong_s;
  eval::Bar bar{
      .name = "stems-speed",
      .unit = "x real time, from a song to the files of its six stems",
      .bar = fmt::format("on {} cores: our own separator >= {} x real time on a song of "
                         "{} s; hum separate <= {} GB on an hour of music; Spleeter's "
                         "U-Nets >= {} x PyTorch, masks within {}",
                         kCores, kLeastSpeed, song_s, kMostMemory_gb, kLeastOfTorch, kMostMask),
      .reason = spleeter_in_torch_missing()};
  const StemWeights weights(scale);
  weights.check(bar);
  const ScratchFolder folder;
  const AudioBuffer song = read_music(song_s, folder.path() / "music");
  const int repeats = scale.smoke ? 2 : kSongsInAnHour;
  write_repeated_song(folder.path() / "song.flac", song, 1);
  write_repeated_song(folder.path() / "hour.flac", song, repeats);
  if (const StemMode* own = weights.find(kOwn)) {
    time_song(folder.path() / "song.flac", song.seconds(), *own, scale, bar);
  }
  for (const StemMode& mode : weights.modes()) {
    measure_memory(folder.path() / "hour.flac", repeats * song.seconds(), mode, bar);
  }
  if (bar.reason.empty()) compare_nets(song, scale, bar);
  bar.peer["Demucs"] = kDemucs;
  return bar;
}

}  // namespace hum::bench
