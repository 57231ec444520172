// The pitch of a melody over time, and how well one track follows another, as in melody extraction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eval/metrics/pitch_accuracy.h"

namespace hum::eval {

// Shapes: one entry per frame each. Times rise.
struct MelodyTrack {
  std::vector<double> time_s;
  std::vector<double> hz;    // of unvoiced frames too, if the tracker has a guess; 0: none
  std::vector<bool> voiced;  // false where hz is 0

  size_t size() const { return time_s.size(); }
  void add(double at_s, double pitch_hz, bool is_voiced);
};

// The track at other times: pitches interpolated in cents, voicing as in the frame before. Before
// the first frame the track is as in that frame. After the last frame it stays as it is until the
// last of the times, where it is unvoiced. Source: mir_eval 0.8.2 melody.resample_melody_series
// (linear) with the first step of melody.to_cent_voicing.
MelodyTrack resampled(const MelodyTrack& track, std::span<const double> time_s);

// Counts of frames, so that several recordings add up.
struct Voicing {
  int64_t voiced = 0, unvoiced = 0;        // in the reference
  int64_t recalled = 0, false_alarms = 0;  // of these, voiced in the estimate

  // Shares of the reference's voiced and unvoiced frames; 1 and 0 if it has none.
  double recall() const;
  double false_alarm() const;
  Voicing& operator+=(const Voicing& other);
};

struct MelodyScore {
  PitchAccuracy pitch;  // also counts the estimate's pitch where it is unvoiced
  Voicing voicing;
};

// Both on the same frames. Throws: kFailure when the lengths differ.
MelodyScore score_frames(const MelodyTrack& reference, const MelodyTrack& estimate,
                         double tolerance_cents = 50);

// The estimate on the frames of the reference. Source: mir_eval 0.8.2 melody.evaluate at its
// defaults.
MelodyScore score_melody(const MelodyTrack& reference, const MelodyTrack& estimate,
                         double tolerance_cents = 50);

struct AgreementOptions {
  double tolerance_cents = 50;
  // Frames this close to a change of the voicing are left out: trackers see it at different times.
  double margin_s = 0.030;
};

// What most of several trackers agree on, at those of the times where they do. Voiced: most tracks
// are voiced, and two of these have pitches within the tolerance; the pitch lies between the two
// that are nearest to each other. Unvoiced: most are unvoiced.
MelodyTrack agreed_track(std::span<const MelodyTrack> tracks, std::span<const double> time_s,
                         const AgreementOptions& options = {});

}  // namespace hum::eval
