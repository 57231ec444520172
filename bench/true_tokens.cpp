#include "bench/true_tokens.h"

#include <algorithm>

#include "base/log.h"
#include "bench/judges.h"
#include "eval/metrics/codebook_use.h"

namespace hum::bench {
namespace {

constexpr uint64_t kSeed = 999;  // items have seed 1 (configs/data.yaml), references 20261101
constexpr size_t kClips = 24;
constexpr double kSeconds = 15, kSmokeSeconds = 6;
constexpr uint64_t kNoiseSeed = 1;

}  // namespace

std::vector<eval::Clip> unseen_clips(const Scale& scale) {
  const auto known = app::known_presets(app::weights_folder(""));
  const size_t count = std::min(scale.smoke ? 1 : kClips, known.size());
  std::vector<const data::Preset*> presets;
  for (size_t i = 0; i < count; ++i) presets.push_back(known[i * known.size() / count]);
  return eval::make_clips(presets, kSeed, scale.smoke ? kSmokeSeconds : kSeconds, renderer());
}

TrueTokens::TrueTokens(runtime::Session& session, const std::vector<eval::Clip>& clips)
    : synthesizer_(session, app::weights_folder("")) {
  Progress progress("encoding", std::ssize(clips));
  for (const auto& clip : clips) {
    codes_.push_back(codec().encode(clip.samples));
    progress.update(std::ssize(codes_));
  }
}

std::vector<float> TrueTokens::plain(size_t i, int64_t used) const {
  return codec().decode(codes_[i], used == 0 ? books() : used);
}

std::vector<float> TrueTokens::guided(size_t i, std::span<const audio::Note> notes,
                                      int64_t used) const {
  const auto instrument = synthesizer_.token_instrument(codes_[i], used == 0 ? books() : used);
  return pipeline::play(notes, instrument, kNoiseSeed);
}

std::vector<double> TrueTokens::used() const {
  std::vector<double> result;
  for (int64_t book = 0; book < books(); ++book) {
    std::vector<int32_t> tokens;
    for (const auto& codes : codes_) {
      const auto more = eval::tokens_of_book(codes, book, books());
      tokens.insert(tokens.end(), more.begin(), more.end());
    }
    const auto entries = static_cast<int>(codec().config().quantizer.entries);
    result.push_back(eval::codebook_share_used(tokens, entries));
  }
  return result;
}

}  // namespace hum::bench
