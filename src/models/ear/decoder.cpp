#include "models/ear/decoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "audio/notes.h"
#include "base/bf16.h"
#include "base/error.h"
#include "base/quantile.h"
#include "models/ear/grid.h"

namespace hum::models::ear {
namespace {

constexpr float kLeast = 1e-6F;  // of a probability
constexpr int64_t kNear = 3;     // bins around a note's pitch that belong to it: 60 cents

double log_of(float probability) { return std::log(std::max(probability, kLeast)); }

// Gathers each peak of the onsets in its highest frame: an onset between two frames raises both.
// The others keep next to nothing, so that no note begins beside a peak.
std::vector<float> gathered(std::span<const float> onsets) {
  constexpr int64_t kReach = 2;
  constexpr float kRest = 0.02F;
  const auto size = std::ssize(onsets);
  std::vector<float> result(onsets.size());
  for (int64_t t = 0; t < size; ++t) {
    const float here = onsets[static_cast<size_t>(t)];
    bool highest = true;
    float none = 1;
    for (int64_t near = std::max<int64_t>(0, t - kReach); near < std::min(size, t + kReach + 1);
         ++near) {
      const float there = onsets[static_cast<size_t>(near)];
      highest = highest && (there < here || (there == here && near >= t));
      if (std::abs(near - t) <= 1) none *= 1 - there;
    }
    result[static_cast<size_t>(t)] = highest ? 1 - none : std::min(here, kRest);
  }
  return result;
}

// A run of frames [first, last) with one pitch.
struct Segment {
  int64_t first, last, bin;
};

// Viterbi over frames. States: a rest, and a note at each bin. A note that begins at frame t is
// distinguished from one that continues, so that a repeated pitch makes two notes.
class Segmenter {
 public:
  Segmenter(const Frames& frames, const DecoderOptions& options)
      : frames_(frames),
        options_(options),
        onset_(gathered(frames.onset)),
        note_(static_cast<size_t>(kPitches), -std::numeric_limits<double>::infinity()),
        begins_(static_cast<size_t>(frames.size() * kPitches)),
        from_(static_cast<size_t>(frames.size())) {}

  std::vector<Segment> find() {
    for (int64_t t = 0; t < frames_.size(); ++t) advance(t);
    return trace();
  }

 private:
  static constexpr int64_t kRest = -1;

  static size_t index(int64_t t, int64_t bin) { return static_cast<size_t>(t * kPitches + bin); }

  void advance(int64_t t) {
    const auto at = static_cast<size_t>(t);
    const double odds = log_of(onset_[at]) - log_of(1 - onset_[at]);
    const double onset = -std::log1p(std::exp(-(odds + options_.onset_bias)));
    const double none = -std::log1p(std::exp(odds + options_.onset_bias));
    const auto best = std::ranges::max_element(note_);
    const bool from_note = *best > rest_;
    const double before = t == 0 ? 0 : std::max(*best, rest_);
    from_[at] = t > 0 && from_note ? best - note_.begin() : kRest;
    const double rest = before + log_of(1 - frames_.voiced[at]);
    const double voiced = log_of(frames_.voiced[at]);
    for (int64_t bin = 0; bin < kPitches; ++bin) {
      double& score = note_[static_cast<size_t>(bin)];
      const double begin = before + onset - options_.note_cost;
      const double stay = score + none;
      const bool begins = t == 0 || begin > stay;
      begins_[index(t, bin)] = begins;
      // Against a uniform pitch, so that the number of bins does not matter.
      const double pitch = log_of(frames_.note(t, bin)) + std::log(static_cast<double>(kPitches));
      score = (begins ? begin : stay) + voiced + options_.pitch_weight * pitch;
    }
    rest_ = rest;
  }

  std::vector<Segment> trace() const {
    std::vector<Segment> segments;
    const auto best = std::ranges::max_element(note_);
    int64_t state = *best > rest_ ? best - note_.begin() : kRest;
    int64_t last = frames_.size();
    for (int64_t t = frames_.size() - 1; t >= 0; --t) {
      if (state != kRest && !begins_[index(t, state)]) continue;
      if (state != kRest) segments.push_back({t, last, state});
      state = from_[static_cast<size_t>(t)];
      last = t;
    }
    std::ranges::reverse(segments);
    return segments;
  }

  const Frames& frames_;
  const DecoderOptions& options_;
  std::vector<float> onset_;
  std::vector<double> note_;
  double rest_ = 0;
  std::vector<bool> begins_;   // [T, kPitches], bits
  std::vector<int64_t> from_;  // the best state before frame t
};

// The centre of a peak around a frame, from its neighbours.
double refined(std::span<const float> values, int64_t frame) {
  double sum = 0, weight = 0;
  for (int64_t t = std::max<int64_t>(0, frame - 2); t < std::min(std::ssize(values), frame + 3);
       ++t) {
    sum += static_cast<double>(t) * values[static_cast<size_t>(t)];
    weight += values[static_cast<size_t>(t)];
  }
  const auto here = static_cast<double>(frame);
  return weight > 0.1 ? std::clamp(sum / weight, here - 1, here + 1) : here;
}

double median_pitch(const Frames& frames, const Segment& segment) {
  const auto length = static_cast<double>(segment.last - segment.first);
  const auto from = segment.first + static_cast<int64_t>(kSteadyFrom * length);
  const auto to = std::max(from + 1, segment.first + static_cast<int64_t>(kSteadyTo * length));
  std::vector<double> bins;
  for (int64_t t = from; t < std::min(to, segment.last); ++t) {
    bins.push_back(peak_bin(frames.f0.row(t), static_cast<double>(segment.bin), 2 * kNear));
  }
  return pitch_of_bin(median(std::move(bins)));
}

// The probability that a note is right, from the probability of what it claims: a logistic curve,
// fitted on the second voice (bench/hear/constants.cpp).
double calibrated(double claim) {
  constexpr double kOffset = 0.47, kSlope = 1.1, kLeastClaim = 1e-4;
  const double p = std::clamp(claim, kLeastClaim, 1 - kLeastClaim);
  return 1 / (1 + std::exp(-(kOffset + kSlope * std::log(p / (1 - p)))));
}

// From the mean probability of the segment's pitch and voicing, and its onset's.
double confidence_of(const Frames& frames, const Segment& segment) {
  double sum = 0;
  for (int64_t t = segment.first; t < segment.last; ++t) {
    double near = 0;
    for (int64_t b = std::max<int64_t>(0, segment.bin - kNear);
         b < std::min(kPitches, segment.bin + kNear + 1); ++b) {
      near += frames.note(t, b);
    }
    sum += std::min(1.0, near) * frames.voiced[static_cast<size_t>(t)];
  }
  const double held = sum / static_cast<double>(segment.last - segment.first);
  float onset = 0;
  for (int64_t t = std::max<int64_t>(0, segment.first - 2);
       t < std::min(frames.size(), segment.first + 3); ++t) {
    onset = std::max(onset, frames.onset[static_cast<size_t>(t)]);
  }
  return calibrated(held * (0.5 + 0.5 * onset));
}

// The tuning at each note, in steps of 5 cents: a walk whose steps cost as a Gaussian's, while a
// note that lies between two semitones costs as well. It is known modulo a semitone: the first one
// lies in -50..50, the others follow without a jump.
std::vector<double> tunings(std::span<const HeardNote> notes, double drift_cents) {
  constexpr int kStates = 20;
  constexpr double kStep_cents = 100.0 / kStates, kSpread_cents = 20;
  const auto circular = [](double cents) { return std::remainder(cents, 100); };
  std::vector<std::array<int, kStates>> from(notes.size());
  std::array<double, kStates> cost{};
  for (size_t i = 0; i < notes.size(); ++i) {
    const double cents = 100 * audio::hz_to_midi(notes[i].hz);
    std::array<double, kStates> next{};
    for (int state = 0; state < kStates; ++state) {
      int best = state;
      double least = std::numeric_limits<double>::infinity();
      for (int before = 0; before < kStates && i > 0; ++before) {
        const double step = circular(kStep_cents * (state - before)) / drift_cents;
        const double total = cost[static_cast<size_t>(before)] + 0.5 * step * step;
        if (total >= least) continue;
        least = total;
        best = before;
      }
      from[i][static_cast<size_t>(state)] = best;
      const double off = circular(cents - kStep_cents * state) / kSpread_cents;
      const double weight = std::min(1.0, (notes[i].end_s - notes[i].start_s) / 0.2);
      next[static_cast<size_t>(state)] = (i > 0 ? least : 0) + 0.5 * weight * off * off;
    }
    cost = next;
  }
  std::vector<double> result(notes.size());
  auto state = static_cast<int>(std::ranges::min_element(cost) - cost.begin());
  for (size_t i = notes.size(); i-- > 0;) {
    result[i] = circular(kStep_cents * state);
    state = from[i][static_cast<size_t>(state)];
  }
  for (size_t i = 1; i < result.size(); ++i) {
    result[i] = result[i - 1] + circular(result[i] - result[i - 1]);
  }
  return result;
}

}  // namespace

double peak_bin(std::span<const uint16_t> row, double around, double reach) {
  constexpr int64_t kPeak = 2;  // bins on both sides of the highest one that belong to its peak
  const int64_t end = std::ssize(row) - 1;
  const auto first = std::clamp<int64_t>(std::llround(around - reach), 0, end);
  const auto last = std::clamp<int64_t>(std::llround(around + reach), 0, end);
  // Bits of bf16 are in the order of their values: none is negative.
  const int64_t peak = std::max_element(row.begin() + first, row.begin() + last + 1) - row.begin();
  double sum = 0, weight = 0;
  for (int64_t bin = std::max<int64_t>(0, peak - kPeak); bin <= std::min(end, peak + kPeak);
       ++bin) {
    // Squared, because the peak's tails are cut off unevenly.
    const double p = from_bf16(row[static_cast<size_t>(bin)]);
    sum += p * p * static_cast<double>(bin);
    weight += p * p;
  }
  return weight > 0 ? sum / weight : around;
}

double frame_hz(const Frames& frames, int64_t frame) {
  constexpr double kMiddle = kPitches / 2.0;
  return audio::midi_to_hz(pitch_of_bin(peak_bin(frames.f0.row(frame), kMiddle, kMiddle)));
}

std::vector<HeardNote> decode(const Frames& frames, const DecoderOptions& options) {
  HUM_REQUIRE(frames.f0.rows == frames.size() && frames.note.rows == frames.size() &&
                  frames.f0.columns == kPitches && frames.note.columns == kPitches &&
                  std::ssize(frames.onset) == frames.size(),
              "decode: {} frames, f0 [{}, {}], note [{}, {}]", frames.size(), frames.f0.rows,
              frames.f0.columns, frames.note.rows, frames.note.columns);
  std::vector<HeardNote> notes;
  if (frames.size() == 0) return notes;
  for (const Segment& segment : Segmenter(frames, options).find()) {
    HeardNote note;
    note.start_s = frame_s(refined(frames.onset, segment.first));
    note.end_s = frame_s(static_cast<double>(segment.last) - 0.5);
    if (note.end_s - note.start_s < options.shortest_s) continue;
    note.hz = audio::midi_to_hz(median_pitch(frames, segment));
    note.confidence = confidence_of(frames, segment);
    if (note.confidence >= options.least_confidence) notes.push_back(note);
  }
  const auto tuning_cents = tunings(notes, options.drift_cents);
  for (size_t i = 0; i < notes.size(); ++i) {
    const double midi = audio::hz_to_midi(notes[i].hz);
    notes[i].pitch = static_cast<int>(std::lround(midi - tuning_cents[i] / 100));
    notes[i].cents = 100 * (midi - notes[i].pitch);
    notes[i].tuning_cents = tuning_cents[i];
  }
  return notes;
}

}  // namespace hum::models::ear
