#include "models/humming/stage_inputs.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"
#include "models/humming/melody_columns.h"

namespace hum::models::humming {

using runtime::HostTensor;

namespace {

HostTensor scalar(double x) { return HostTensor::scalar(static_cast<float>(x)); }
HostTensor whole(int64_t x) { return HostTensor::scalar(static_cast<int32_t>(x)); }

}  // namespace

HostTensor latents_of(const CommonConfig& common, std::span<const float> values) {
  return HostTensor::of({kWindowFrames, common.latent}, values);
}

HostTensor melody_of(const CommonConfig& common, std::span<const float> values) {
  return first_columns(values, {kWindowFrames, common.melody_features});
}

HostTensor tokens_of(std::span<const int32_t> tokens) {
  return HostTensor::of({kWindowFrames, std::ssize(tokens) / kWindowFrames}, tokens);
}

Row told(const CommonConfig& common, const Window& window) {
  return {melody_of(common, window.melody),
          HostTensor::of({kReferenceFrames, common.latent},
                         std::span<const float>(window.timbre->latents)),
          HostTensor::scalar(window.timbre->frames)};
}

void add_reference_melody(const Upsampler& upsampler, const Window& window, Row& row) {
  if (!upsampler.attends()) return;
  const std::vector<float>& melody = window.timbre->melody;
  if (melody.empty()) {
    fail(ExitCode::kBadData,
         "these weights need the notes of the timbre reference, and they are unknown",
         "`hum data references` stores the references of presets again, with their notes");
  }
  row.push_back(
      first_columns(melody, {kReferenceFrames, upsampler.config().common.melody_features}));
}

Row token_row(const CommonConfig& common, const Window& window, std::span<const float> draft,
              const SamplingOptions& sampling, bool apart) {
  HUM_REQUIRE(window.frames >= 1 && window.frames <= kWindowFrames, "tokens: {} frames",
              window.frames);
  const auto key = stream_key(static_cast<uint64_t>(window.seed), "coarse tokens",
                              static_cast<uint64_t>(window.number));
  const int64_t top_k =
      sampling.top_k == 0 ? common.entries : std::min(sampling.top_k, common.entries);
  Row row = told(common, window);
  row.push_back(latents_of(common, draft));
  row.push_back(HostTensor::of({2}, std::span<const uint32_t>(key)));
  row.push_back(scalar(sampling.greedy ? 0 : sampling.temperature));
  row.push_back(whole(top_k));
  row.push_back(scalar(sampling.top_p));
  row.push_back(whole(guided_frames(sampling, window.melody)));
  row.push_back(whole(window.frames));
  row.push_back(scalar(sampling.guidance_of_melody()));
  if (apart) row.push_back(scalar(sampling.guidance_of_timbre()));
  return row;
}

}  // namespace hum::models::humming
