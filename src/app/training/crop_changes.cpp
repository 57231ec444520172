#include "app/training/crop_changes.h"

#include <algorithm>

#include "base/rng.h"
#include "data/synthesis/conditions.h"
#include "models/weights_folder.h"

namespace hum::app {

using runtime::HostTensor;

CropChanges::CropChanges(const InputRequest& request)
    : copied_share_(request.configuration.stage.copied_share),
      recorded_share_(request.configuration.stage.recorded_share) {
  if (copied_share_ == 0) return;
  const auto weights = weights_of(request.configuration.stage);
  codec_ = std::make_unique<const models::codec::CodecSession>(
      request.session, models::weights_part(weights, "codec"));
}

void CropChanges::apply(const Draw& draw, HostTensor& audio) const {
  if (copied_share_ > 0) copy(draw, audio);
  if (recorded_share_ > 0) record(draw, audio);
}

// All copies of a batch are one sound for the codec, with one number of books.
void CropChanges::copy(const Draw& draw, HostTensor& audio) const {
  const auto crops = drawn(draw, "copied crop", copied_share_, audio);
  if (crops.empty()) return;
  std::vector<float> sound;
  for (const auto& crop : crops) sound.insert(sound.end(), crop.begin(), crop.end());
  const int64_t books = codec_->config().quantizer.books;
  Rng rng(draw.seed, "copied books", static_cast<uint64_t>(draw.step));
  sound = codec_->decode(codec_->encode(sound), rng.integer((books + 1) / 2, books));
  auto from = sound.begin();
  for (const auto& crop : crops) {
    std::copy_n(from, crop.size(), crop.begin());
    from += std::ssize(crop);
  }
}

void CropChanges::record(const Draw& draw, HostTensor& audio) const {
  const auto crops = drawn(draw, "recorded crop", recorded_share_, audio);
  for (size_t i = 0; i < crops.size(); ++i) {
    Rng rng(draw.seed, fmt::format("recording {}", i), static_cast<uint64_t>(draw.step));
    std::vector<float> samples(crops[i].begin(), crops[i].end());
    data::apply(data::draw_judged_conditions(rng), {}, rng, samples);
    std::ranges::copy(samples, crops[i].begin());
  }
}

std::vector<std::span<float>> CropChanges::drawn(const Draw& draw, const char* change, double share,
                                                 HostTensor& audio) const {
  const int64_t batch = audio.shape().size(0);
  const auto samples = static_cast<size_t>(audio.shape().size(1));
  std::vector<std::span<float>> crops;
  for (int64_t b = 0; b < batch; ++b) {
    Rng rng(draw.seed, change, static_cast<uint64_t>(draw.step * batch + b));
    if (!rng.chance(share)) continue;
    crops.push_back(audio.as<float>().subspan(static_cast<size_t>(b) * samples, samples));
  }
  return crops;
}

}  // namespace hum::app
