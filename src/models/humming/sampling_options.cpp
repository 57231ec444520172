#include "models/humming/sampling_options.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "models/humming/config.h"

namespace hum::models::humming {
namespace {

constexpr int64_t kFirstNote = -1;

// kFirstNote, or a number of frames.
int64_t guided_length(const std::string& text) {
  if (text == "all") return kWindowFrames;
  if (text == "first-note") return kFirstNote;
  int64_t frames = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, frames);
  if (error != std::errc() || end != last || frames < 1) {
    fail(ExitCode::kUsage,
         fmt::format("--guidance-over '{}' is neither all, first-note nor 1 or more", text),
         "--guidance-over 9 guides 0.18 s of each window's first note");
  }
  return std::min(frames, kWindowFrames);
}

}  // namespace

void validate(const SamplingOptions& options) {
  auto refuse = [](const char* flag, double value, const char* allowed) {
    fail(ExitCode::kUsage, fmt::format("--{} {} is out of range", flag, value),
         fmt::format("--{} must be {}", flag, allowed));
  };
  if (!(options.temperature >= 0 && options.temperature <= 10)) {
    refuse("temperature", options.temperature, "0 to 10");
  }
  if (options.top_k < 0) refuse("top-k", static_cast<double>(options.top_k), "0 (all) or more");
  if (!(options.top_p > 0 && options.top_p <= 1)) refuse("top-p", options.top_p, "above 0, to 1");
  auto in_range = [](double scale) { return scale >= 0 && scale <= 20; };
  if (!in_range(options.guidance)) refuse("guidance", options.guidance, "0 to 20");
  if (!in_range(options.guidance_of_melody())) {
    refuse("melody-guidance", options.melody_guidance, "0 to 20, or -1 for --guidance");
  }
  if (!in_range(options.guidance_of_timbre())) {
    refuse("timbre-guidance", options.timbre_guidance, "0 to 20, or -1 for --guidance");
  }
  guided_length(options.guidance_over);
  if (!(options.draft >= 0 && options.draft <= 1)) refuse("draft", options.draft, "0 to 1");
  if (options.seed < 0) refuse("seed", static_cast<double>(options.seed), "0 or more");
}

bool is_set(const SamplingOptions& options) {
  const SamplingOptions neutral{.seed = options.seed};
  return options != neutral;
}

int64_t guided_frames(const SamplingOptions& options, std::span<const float> melody) {
  const int64_t length = guided_length(options.guidance_over);
  if (length == kWindowFrames) return length;
  const int64_t frames = kWindowFrames, features = std::ssize(melody) / frames;
  auto is = [&](int64_t frame, int64_t feature) {
    return melody[static_cast<size_t>(frame * features + feature)] > 0.5F;
  };
  int64_t begin = 0;
  while (begin < frames && !is(begin, kMelodySounding)) ++begin;
  if (begin == frames) return 0;
  if (length != kFirstNote) return std::min(begin + length, frames);
  int64_t end = begin + 1;
  while (end < frames && is(end, kMelodySounding) && !is(end, kMelodyOnset)) ++end;
  return end;
}

}  // namespace hum::models::humming
