#include "bench/stems/separated.h"

#include <algorithm>
#include <filesystem>

#include "app/play/synthesizer.h"
#include "app/separation/song_separator.h"
#include "audio/io.h"
#include "audio/mix.h"
#include "audio/resample.h"
#include "bench/judges.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/timing.h"
#include "eval/metrics/stem_figures.h"
#include "models/spleeter/config.h"
#include "models/spleeter/separator.h"
#include "models/testing.h"
#include "pipeline/accompaniment.h"

namespace hum::bench {
namespace {

namespace spleeter = models::spleeter;
using audio::AudioBuffer;

constexpr size_t kBlockFrames = 65536;

AudioBuffer in_stereo(const AudioBuffer& sound) {
  return audio::resample(audio::widened(sound, spleeter::kChannels), spleeter::kSampleRateHz);
}

// Bass, chords and drums for `seconds`.
AudioBuffer band(double seconds) {
  const std::vector<pipeline::Chord> turn = {
      {.root = 0}, {.root = 7}, {.root = 9, .third = 3}, {.root = 5}};
  const pipeline::Tempo tempo{.bpm = 96};
  constexpr int64_t kBeats = 4;
  std::vector<pipeline::Chord> chords;
  while (static_cast<double>(kBeats) * tempo.beat_s() * static_cast<double>(chords.size()) <
         seconds) {
    chords.push_back(turn[chords.size() % turn.size()]);
  }
  const auto score = pipeline::accompany(chords, tempo, kBeats, pipeline::Style::kPop);
  data::FluidRenderer renderer;
  const auto part = [&](std::span<const audio::Note> notes, int program) {
    return renderer.render_stereo(notes, program, seconds);
  };
  return audio::mix(
      audio::mix(part(score.bass, score.bass_program), part(score.chords, score.chord_program)),
      part(score.drums, data::kDrumKit));
}

}  // namespace

std::vector<std::string> StemMode::arguments() const {
  std::vector<std::string> all = {"--vocals", std::string(to_name(vocals)), "--weights", weights};
  if (!six) all.insert(all.end(), {"--two-stems", "vocals"});
  return all;
}

app::StemModels StemMode::models() const {
  return app::StemModels({.weights = weights, .vocals = vocals, .only_vocals = !six});
}

StemWeights::StemWeights(const Scale& scale) {
  std::string own = folder_.path();
  const std::string none = folder_ / "none";
  std::filesystem::create_directory(none);
  if (scale.smoke) {
    models::write_tiny_separator(folder_.path());
  } else {
    own = app::weights_folder("");
  }
  if (spleeter::has_weights()) {
    modes_.push_back({kSpleeterAlone, app::Vocals::kSpleeter, /*six=*/false, none});
  }
  if (!app::installed_stem_models({.weights = own}).has_own) return;
  if (spleeter::has_weights()) modes_.push_back({kSpleeter, app::Vocals::kSpleeter, true, own});
  modes_.push_back({kOwn, app::Vocals::kOwn, true, own});
}

const StemMode* StemWeights::find(std::string_view mode) const {
  const auto found = std::ranges::find(modes_, mode, &StemMode::name);
  return found == modes_.end() ? nullptr : &*found;
}

const StemMode* StemWeights::own(eval::Bar& bar) const {
  const StemMode* mode = find(kOwn);
  bar.checks.holds("own: its weights are here", mode != nullptr);
  return mode;
}

void StemWeights::check(eval::Bar& bar) const {
  bar.checks.holds("spleeter: its weights are here", find(kSpleeterAlone) != nullptr);
  own(bar);
}

StemSong sung_song() {
  StemSong song{.name = "voice and band", .mixture = {}};
  song.voice = in_stereo(audio::read_mono(example_recording()));
  AudioBuffer beside = in_stereo(band(song.voice->seconds()));
  beside.samples.resize(song.voice->samples.size());
  audio::apply_gain(beside,
                    eval::level_dbfs(song.voice->samples) - eval::level_dbfs(beside.samples));
  song.mixture = audio::mix(*song.voice, beside);
  return song;
}

AudioBuffer repeated(const AudioBuffer& sound, double seconds) {
  AudioBuffer all{sound.rate_hz, sound.channels, {}};
  const auto samples = static_cast<size_t>(seconds * sound.rate_hz * sound.channels);
  all.samples.reserve(samples + sound.samples.size());
  while (all.samples.size() < samples) {
    all.samples.insert(all.samples.end(), sound.samples.begin(), sound.samples.end());
  }
  all.samples.resize(samples / static_cast<size_t>(sound.channels) *
                     static_cast<size_t>(sound.channels));
  return all;
}

Stems separated(const AudioBuffer& mixture, const app::StemModels& models) {
  app::SongSeparator separator(models, mixture.rate_hz, mixture.channels);
  std::vector<AudioBuffer> stems(separator.stems().size(), {mixture.rate_hz, mixture.channels, {}});
  const auto add = [&](const app::SongSeparator::Sounds& sounds) {
    for (size_t i = 0; i < stems.size(); ++i) {
      stems[i].samples.insert(stems[i].samples.end(), sounds[i].begin(), sounds[i].end());
    }
  };
  const std::span<const float> song = mixture.samples;
  const size_t block = kBlockFrames * static_cast<size_t>(mixture.channels);
  for (size_t at = 0; at < song.size(); at += block) {
    add(separator.push(song.subspan(at, std::min(block, song.size() - at))));
  }
  add(separator.finish());
  Stems named;
  for (size_t i = 0; i < stems.size(); ++i) {
    named.emplace(separator.stems()[i], std::move(stems[i]));
  }
  return named;
}

std::vector<float> as_heard(const AudioBuffer& sound) {
  return audio::resample(audio::to_mono(sound), data::kSampleRate).samples;
}

eval::Interval mean_over_songs(std::span<const double> values) {
  return eval::mean_interval(values, eval::draw_resamples(std::ssize(values), {}));
}

Json figures_of(const eval::Interval& interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

}  // namespace hum::bench
