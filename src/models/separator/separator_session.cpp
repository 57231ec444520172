#include "models/separator/separator_session.h"

#include <map>
#include <mutex>

#include "base/error.h"
#include "kernels/stft/stft.h"
#include "models/separator/model.h"
#include "models/separator/wiener.h"
#include "models/stored_model.h"

namespace hum::models::separator {

using graph::DType;
using graph::Spectrum;
using runtime::HostTensor;

namespace {

constexpr int64_t kVocals = 2;
static_assert(kStems[kVocals] == "vocals");
constexpr double kTiny = 1e-6;  // added to shares before they are divided by their sum

// Rows [from, to) of dim 0.
Value rows(const Value& x, int64_t from, int64_t to) { return graph::slice_in_dim(x, 0, from, to); }
Spectrum rows(const Spectrum& x, int64_t from, int64_t to) {
  return {rows(x.real, from, to), rows(x.imag, from, to)};
}

// Takes the vocals out of the masks. Shapes: masks_STF -> the others' shares of the rest.
Value shares_of_rest(const Value& masks_STF) {
  const Value others = graph::concatenate(
      {rows(masks_STF, 0, kVocals), rows(masks_STF, kVocals + 1, masks_STF.size(0))}, 0);
  const Value shares = others + kTiny;
  return shares / graph::sum(shares, {0}, /*keepdims=*/true);
}

// The stems of a mixture whose vocals are known. Shapes: masks_STF, two of CTF -> two of SCTF.
Spectrum with_vocals(const Value& masks_STF, const Spectrum& mixture_CTF,
                     const Spectrum& vocals_CTF) {
  const Spectrum rest{mixture_CTF.real - vocals_CTF.real, mixture_CTF.imag - vocals_CTF.imag};
  const Spectrum others = wiener_step(shares_of_rest(masks_STF), rest);
  const auto joined = [&](const Value& others_SCTF, const Value& part_CTF) {
    return graph::concatenate({rows(others_SCTF, 0, kVocals), graph::expand_dims(part_CTF, 0),
                               rows(others_SCTF, kVocals, others_SCTF.size(0))},
                              0);
  };
  return {joined(others.real, vocals_CTF.real), joined(others.imag, vocals_CTF.imag)};
}

// Windowed inverse transforms, weighted and added up. Shapes: two of SCTF -> SCN.
Value sounds_of(const Spectrum& stems, const Value& fade_T, const SeparatorConfig& config) {
  const graph::Dims& dims = stems.real.dims();
  const auto faded = [&](const Value& part_SCTF) {
    return graph::reshape(part_SCTF * graph::expand_dims(fade_T, 1),
                          {dims[0] * dims[1], dims[2], dims[3]});
  };
  const Value sounds =
      kernels::overlapped_irfft({faded(stems.real), faded(stems.imag)},
                                graph::hann_window(config.window_samples), config.hop_samples);
  return graph::reshape(sounds, {dims[0], dims[1], sounds.size(1)});
}

}  // namespace

struct SeparatorSession::State {
  State(runtime::Session& session, const std::filesystem::path& folder)
      : stored(session, folder, "hum-separator") {}

  const SeparatorConfig& config() const { return stored.model().config(); }
  SegmentLayout layout(int64_t channels_in) const {
    const int64_t overlap = config().frames / 5;
    return {.window_samples = config().window_samples,
            .hop_samples = config().hop_samples,
            .frames = config().frames,
            .overlap = overlap,
            .lead = overlap / 2,
            .channels_in = channels_in,
            .channels_out = kChannels,
            .sounds = kStemCount};
  }
  SegmentStream stream(const runtime::Executable& program, int64_t channels_in) const {
    return {layout(channels_in), [this, &program](const HostTensor& sound, const HostTensor& fade) {
              return stored.run(program, {&sound, &fade});
            }};
  }
  runtime::Executable compile(int64_t vocal_bins) const;
  // The program that takes the given vocals' lowest bins; 0: it finds the vocals itself.
  const runtime::Executable& program(int64_t vocal_bins) {
    const std::lock_guard lock(mutex);
    const auto found = programs.find(vocal_bins);
    if (found != programs.end()) return found->second;
    return programs.emplace(vocal_bins, compile(vocal_bins)).first->second;
  }

  StoredModel<Separator> stored;
  std::mutex mutex;
  std::map<int64_t, runtime::Executable> programs;
};

runtime::Executable SeparatorSession::State::compile(int64_t vocal_bins) const {
  const SeparatorConfig& c = config();
  const int64_t channels = vocal_bins > 0 ? 2 * kChannels : kChannels;
  const Value sound = graph::parameter("sound", {DType::kF32, {channels, c.segment_samples()}}),
              fade = graph::parameter("fade", {DType::kF32, {c.frames}});
  const Spectrum all = kernels::stft(sound, graph::hann_window(c.window_samples), c.hop_samples);
  const Spectrum mixture_CTF = rows(all, 0, kChannels);
  const auto batch = [](const Value& x) { return graph::expand_dims(x, 0); };
  const Value masks_STF = graph::squeeze(
      stored.model().masks({batch(mixture_CTF.real), batch(mixture_CTF.imag)}, DType::kF32), {0});
  if (vocal_bins == 0) {
    const Spectrum stems = wiener_step(masks_STF, mixture_CTF);
    return stored.compile("separator/separate", {sound, fade}, {sounds_of(stems, fade, c)});
  }
  const Value mask_1TF = rows(masks_STF, kVocals, kVocals + 1);
  const Spectrum given_CTF = rows(all, kChannels, channels);
  const auto low_and_high = [&](const Value& given, const Value& mixture) {
    return graph::concatenate(
        {graph::slice_in_dim(given, 2, 0, vocal_bins),
         graph::slice_in_dim(mask_1TF * mixture, 2, vocal_bins, c.all_bins())},
        2);
  };
  const Spectrum vocals_CTF{low_and_high(given_CTF.real, mixture_CTF.real),
                            low_and_high(given_CTF.imag, mixture_CTF.imag)};
  const Spectrum stems = with_vocals(masks_STF, mixture_CTF, vocals_CTF);
  return stored.compile("separator/separate beside vocals", {sound, fade},
                        {sounds_of(stems, fade, c)});
}

SeparatorSession::SeparatorSession(runtime::Session& session, const std::filesystem::path& weights)
    : state_(std::make_unique<State>(session, weights)) {}

SeparatorSession::~SeparatorSession() = default;

SegmentStream SeparatorSession::stream() const {
  return state_->stream(state_->program(0), kChannels);
}

SegmentStream SeparatorSession::stream_with_vocals(double vocals_below_hz) const {
  const SeparatorConfig& c = state_->config();
  const double bins = vocals_below_hz * static_cast<double>(c.window_samples) / kSampleRateHz;
  HUM_REQUIRE(bins >= 1 && static_cast<int64_t>(bins) < c.all_bins(),
              "separator: vocals below {} Hz have {} of {} bins", vocals_below_hz, bins,
              c.all_bins());
  return state_->stream(state_->program(static_cast<int64_t>(bins)), 2 * kChannels);
}

}  // namespace hum::models::separator
