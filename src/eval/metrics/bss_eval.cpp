#include "eval/metrics/bss_eval.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/quantile.h"
#include "base/threads.h"
#include "eval/metrics/bss_filters_impl.h"

namespace hum::eval {
namespace {

using audio::AudioBuffer;
using Eigen::ArrayXd;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void add_channels(Signals& signals, const AudioBuffer& sound) {
  for (int channel = 0; channel < sound.channels; ++channel) signals.push_back({&sound, channel});
}

// museval's rule: true also for channels that cancel each other.
bool is_silent(const AudioBuffer& sound, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) {
    double sum = 0;
    for (int channel = 0; channel < sound.channels; ++channel) sum += Signal{&sound, channel}.at(i);
    if (sum != 0) return false;
  }
  return true;
}

double square(double x) { return x * x; }

double ratio_db(double numerator, double denominator) {
  if (denominator == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(numerator / denominator);
}

// Sums of squares of one stem in one frame.
struct Energies {
  double truth = 0, error = 0, spatial = 0, own = 0, interference = 0, all = 0, artifacts = 0;

  // One channel. Projections reach kReach samples beyond the frame, where truth and estimate are
  // zero.
  void add(const Signal& reference, const Signal& estimate, int64_t first, int64_t last,
           const ArrayXd& own_part, const ArrayXd& whole_part) {
    for (int64_t i = 0; i < last - first + kReach; ++i) {
      const bool is_inside = first + i < last;
      const double s = is_inside ? reference.at(first + i) : 0;
      const double e = is_inside ? estimate.at(first + i) : 0;
      truth += square(s);
      error += square(e - s);
      spatial += square(own_part[i] - s);
      own += square(own_part[i]);
      interference += square(whole_part[i] - own_part[i]);
      all += square(whole_part[i]);
      artifacts += square(e - whole_part[i]);
    }
  }
  void write(BssScores& scores, size_t frame) const {
    scores.sdr[frame] = ratio_db(truth, error);
    scores.isr[frame] = ratio_db(truth, spatial);
    scores.sir[frame] = ratio_db(own, interference);
    scores.sar[frame] = ratio_db(all, artifacts);
  }
};

// A stem to judge, and the filters from its own reference and from all to its estimate.
struct Judged {
  const AudioBuffer *reference = nullptr, *estimate = nullptr;
  size_t first_channel = 0;        // of the reference, among all channels
  std::vector<Spectrum> own, all;  // [C, C], [references * C, C]
  BssScores* scores = nullptr;
};

// What becomes of the references when the filters of one channel are applied to them.
ArrayXd projection(std::span<const Spectrum> references, std::span<const Spectrum> filters,
                   size_t channel, WideFft& fft) {
  const size_t channels = filters.size() / references.size();
  Spectrum sum = Spectrum::Zero(fft.bins());
  for (size_t u = 0; u < references.size(); ++u) {
    sum += references[u] * filters[u * channels + channel];
  }
  return fft.inverse(sum);
}

void judge_frame(std::span<const Judged> stems, const Signals& known, size_t frame, int64_t first,
                 int64_t last, WideFft& fft) {
  std::vector<Spectrum> spectra;
  for (const Signal& signal : known) spectra.push_back(fft.forward(signal, first, last, first));
  for (const Judged& stem : stems) {
    const int channels = stem.reference->channels;
    const auto own = std::span(spectra).subspan(stem.first_channel, static_cast<size_t>(channels));
    Energies sums;
    for (int channel = 0; channel < channels; ++channel) {
      const auto c = static_cast<size_t>(channel);
      sums.add({stem.reference, channel}, {stem.estimate, channel}, first, last,
               projection(own, stem.own, c, fft), projection(spectra, stem.all, c, fft));
    }
    sums.write(*stem.scores, frame);
  }
}

}  // namespace

BssEval::BssEval(std::span<const AudioBuffer> references, int64_t frame_samples, int threads)
    : references_(references), frame_samples_(frame_samples), threads_(threads) {
  HUM_REQUIRE(!references.empty() && references[0].frames() > 0 && frame_samples > 0,
              "bss_eval: {} references, frames of {} samples", references.size(), frame_samples);
  samples_ = references[0].frames();
  Signals known;
  for (size_t stem = 0; stem < references.size(); ++stem) {
    const AudioBuffer& sound = references[stem];
    HUM_REQUIRE(sound.frames() == samples_ && sound.channels == references[0].channels,
                "bss_eval: reference {} has {} samples in {} channels, the first one {} in {}",
                stem, sound.frames(), sound.channels, samples_, references[0].channels);
    if (is_silent(sound, 0, samples_)) continue;
    sounding_.push_back(stem);
    add_channels(known, sound);
  }
  if (known.empty()) return;
  const Correlations correlations(known, samples_, threads);
  factor_ = factor_of(correlations, 0, known.size());
  const auto channels = static_cast<size_t>(references[0].channels);
  for (size_t first = 0; first < known.size(); first += channels) {
    own_factors_.push_back(factor_of(correlations, first, first + channels));
  }
}

int64_t BssEval::frames() const {
  return frame_samples_ < samples_ ? samples_ / frame_samples_ : 1;
}

std::vector<BssScores> BssEval::score(std::span<const AudioBuffer> estimates) const {
  HUM_REQUIRE(estimates.size() == references_.size(), "bss_eval: {} estimates of {} references",
              estimates.size(), references_.size());
  const std::vector<double> none(static_cast<size_t>(frames()), kNan);
  std::vector<BssScores> scores(references_.size(), {none, none, none, none});
  Signals known, heard;
  std::vector<Judged> stems;
  for (const size_t stem : sounding_) {
    const AudioBuffer &reference = references_[stem], &estimate = estimates[stem];
    HUM_REQUIRE(estimate.frames() == samples_ && estimate.channels == reference.channels,
                "bss_eval: estimate {} has {} samples in {} channels, its reference {} in {}", stem,
                estimate.frames(), estimate.channels, samples_, reference.channels);
    const size_t first_channel = known.size();
    add_channels(known, reference);
    if (is_silent(estimate, 0, samples_)) continue;
    stems.push_back({&reference, &estimate, first_channel, {}, {}, &scores[stem]});
    add_channels(heard, estimate);
  }
  const Correlations correlations(known, heard, samples_, threads_);
  const int64_t length = std::min(frame_samples_, samples_);
  const int64_t fft_samples = WideFft::good_size(length + kReach);
  WideFft fft(fft_samples);
  const auto channels = static_cast<size_t>(references_[0].channels);
  for (size_t i = 0; i < stems.size(); ++i) {
    const size_t first = stems[i].first_channel, target = i * channels;
    stems[i].own = best_filters(own_factors_[first / channels],
                                products_of(correlations, first, channels, target, channels), fft);
    stems[i].all =
        best_filters(factor_, products_of(correlations, 0, known.size(), target, channels), fft);
  }
  parallel_for(threads_, threads_, [&](int64_t worker) {
    WideFft frame_fft(fft_samples);
    for (int64_t frame = worker; frame < frames(); frame += threads_) {
      const int64_t first = frame * frame_samples_, last = first + length;
      const bool any_is_silent =
          std::ranges::any_of(sounding_,
                              [&](size_t i) { return is_silent(references_[i], first, last); }) ||
          std::ranges::any_of(
              stems, [&](const Judged& stem) { return is_silent(*stem.estimate, first, last); });
      if (any_is_silent) continue;
      judge_frame(stems, known, static_cast<size_t>(frame), first, last, frame_fft);
    }
  });
  return scores;
}

double median_of_frames(std::span<const double> frames) {
  std::vector<double> finite;
  std::ranges::copy_if(frames, std::back_inserter(finite),
                       [](double x) { return std::isfinite(x); });
  return finite.empty() ? kNan : median(std::move(finite));
}

}  // namespace hum::eval
