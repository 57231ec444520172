#include "eval/harness/figures.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "data/synthesis/timing.h"
#include "eval/harness/melody_score.h"
#include "eval/metrics/chroma.h"
#include "eval/metrics/chroma_cosine.h"
#include "eval/metrics/dac_losses.h"
#include "eval/metrics/envelope.h"
#include "eval/metrics/log_spectral_distance.h"
#include "eval/metrics/mel_distance.h"
#include "eval/metrics/si_sdr.h"
#include "eval/metrics/token_scores.h"

namespace hum::eval {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kRate = data::kSampleRate;

// f(truth, heard, rate).
template <double (*f)(std::span<const float>, std::span<const float>, int)>
double against_truth(const HeardClip& h) {
  return f(h.clip.truth, h.samples, kRate);
}

double timbre(const HeardClip& h) { return h.timbre_distance; }

// f(truth, heard).
template <double (*f)(const Spectra&, const Spectra&)>
double spectra_against_truth(const HeardClip& h) {
  return f(h.known->truth.spectra, h.view.spectra);
}

double audible_timbre_distance(const HeardClip& h) {
  return timbre_distance(h.known->audible_timbre, timbre_of(h.samples, kRate, kAudibleRange_db));
}

double mel_distance_to_heard(const HeardClip& h) {
  return h.known->heard_truth ? mel_distance(*h.known->heard_truth, h.view.spectra) : kNan;
}

SoundView view_of(std::span<const float> samples) {
  return {spectra_of(samples, kRate), chroma_classes(samples, kRate)};
}

// Whether the truth is among the k nearest of itself and its rivals.
template <int64_t k>
double nearest(const HeardClip& h) {
  if (h.clip.rivals.empty()) return kNan;
  return h.nearer_rivals < k ? 1 : 0;
}

template <int64_t k>
double classified(const HeardClip& h) {
  if (!h.classification || h.classification->target < 0) return kNan;
  const auto& logits = h.classification->logits;
  return top_k_accuracy(logits, std::ssize(logits), std::span(&h.classification->target, 1), k);
}

double classified_family(const HeardClip& h) {
  if (!h.classification) return kNan;
  return h.classification->family ? 1 : 0;
}

double token_cross_entropy(const HeardClip& h) {
  return h.tokens ? mean_cross_entropy(h.tokens->logits, h.tokens->classes, h.tokens->targets)
                  : kNan;
}

template <int64_t k>
double token_accuracy(const HeardClip& h) {
  return h.tokens ? top_k_accuracy(h.tokens->logits, h.tokens->classes, h.tokens->targets, k)
                  : kNan;
}

double real_time_factor(const HeardClip& h) {
  const double seconds = static_cast<double>(h.clip.truth.size()) / kRate;
  return h.compute_s < 0 ? kNan : h.compute_s / seconds;
}

}  // namespace

std::span<const Metric> metrics() {
  using enum Better;
  using H = const HeardClip&;
  static const Metric kMetrics[] = {
      {"chroma", "chroma accuracy", "share", kHigher,
       "frames inside notes whose pitch (YIN) is within 50 cents, one octave shift per clip",
       [](H h) { return chroma_accuracy(h.samples, kRate, h.clip.notes).accuracy; }},
      {"note_f1", "note F1", "share", kHigher,
       "Basic Pitch's notes against the requested ones: 50 ms, 50 cents, one octave shift per clip "
       "(mir_eval)",
       [](H h) { return h.notes.f1; }},
      {"note_f1_100_ms", "note F1, 100 ms", "share", kHigher, "the same with onsets within 100 ms",
       [](H h) { return h.wide_notes.f1; }},
      {"note_precision", "note precision", "share", kHigher,
       "share of heard notes that were requested", [](H h) { return h.notes.precision; }},
      {"note_recall", "note recall", "share", kHigher, "share of requested notes that are heard",
       [](H h) { return h.notes.recall; }},
      {"note_f1_ends", "note F1 with ends", "share", kHigher,
       "note F1 that also counts ends, within 20 % of the note or 50 ms",
       [](H h) { return h.notes_with_ends.f1; }},
      {"raw_pitch", "raw pitch accuracy", "share", kHigher,
       "frames of the melody within 50 cents, octave errors are wrong (mir_eval)",
       [](H h) { return h.pitch.raw_pitch; }},
      {"raw_chroma", "raw chroma accuracy", "share", kHigher,
       "frames of the melody within 50 cents in any octave (mir_eval)",
       [](H h) { return h.pitch.raw_chroma; }},
      {"chroma_cosine", "chroma cosine", "share", kHigher,
       "frames whose strongest pitch class is the true rendering's (MusicGen); chance is about 0.1",
       [](H h) { return chroma_cosine(h.known->truth.chroma, h.view.chroma); }},
      {"timbre", "timbre distance", "MFCC", kLower,
       "distance of the mean MFCC 1 to 12 to the true rendering's", timbre},
      {"timbre_60", "timbre distance, 60 dB", "MFCC", kLower,
       "the same with a floor 60 dB below the loudest band, so that only what is audible counts",
       audible_timbre_distance},
      {"nearest_1", "nearest preset", "share", kHigher,
       "by timbre distance, the true preset is nearer than 19 random others playing the same notes",
       nearest<1>},
      {"nearest_3", "nearest 3 presets", "share", kHigher,
       "the true preset is among the nearest 3 of 20", nearest<3>},
      {"preset_top1", "classifier, top 1", "share", kHigher,
       "the preset classifier's likeliest preset is the requested one", classified<1>},
      {"preset_top3", "classifier, top 3", "share", kHigher,
       "the requested preset is among its three likeliest", classified<3>},
      {"preset_family", "classifier, family", "share", kHigher,
       "its likeliest preset is of the requested one's General MIDI family", classified_family},
      {"mel_distance", "mel distance", "log10", kLower,
       "log mel L1 over DAC's seven scales, at -16 LUFS, floored at 60 dB below the clip's peak",
       spectra_against_truth<mel_distance>},
      {"mel_distance_heard", "mel distance, heard notes", "log10", kLower,
       "the same, to the real instrument playing the notes that are heard in the hum",
       mel_distance_to_heard},
      {"stft_distance", "STFT distance", "log10", kLower,
       "log magnitude L1 at windows 2048 and 512, with the same level and floor",
       spectra_against_truth<stft_distance>},
      {"log_spectral_distance", "log-spectral distance", "dB", kLower,
       "mel power in dB at 16 kHz, root mean square over time (ss-vq-vae)",
       against_truth<log_spectral_distance_db>},
      {"si_sdr", "SI-SDR", "dB", kHigher,
       "waveform against the true rendering, means kept (torchmetrics)",
       [](H h) { return si_sdr_db(h.clip.truth, h.samples, Mean::kKeep); }},
      {"si_sdr_zero_mean", "SI-SDR, means removed", "dB", kHigher,
       "the same with means removed (DAC)",
       [](H h) { return si_sdr_db(h.clip.truth, h.samples, Mean::kRemove); }},
      {"envelope", "envelope correlation", "r", kHigher,
       "loudness over time against the true rendering's", against_truth<envelope_correlation>},
      {"dac_mel", "DAC's mel", "", kNeither,
       "as in DAC's tables: no floor, at the sounds' own levels", spectra_against_truth<dac_mel>},
      {"dac_stft", "DAC's STFT", "", kNeither, "as in DAC's tables",
       spectra_against_truth<dac_stft>},
      {"dac_training_mel", "DAC's training mel", "", kNeither,
       "the mel loss that DAC is trained with", spectra_against_truth<dac_training_mel>},
      {"token_ce", "first codebook, cross-entropy", "nats", kLower,
       "of the true clip's tokens, given the true tokens before them", token_cross_entropy},
      {"token_top1", "first codebook, top 1", "share", kHigher,
       "the language model's likeliest token is the true one, given the true tokens before it",
       token_accuracy<1>},
      {"token_top10", "first codebook, top 10", "share", kHigher,
       "the true token is among its ten likeliest", token_accuracy<10>},
      {"real_time_factor", "real-time factor", "s/s", kLower,
       "seconds of computing per second of sound on this machine", real_time_factor},
  };
  return kMetrics;
}

size_t metric_index(std::string_view key) {
  for (size_t i = 0; i < metrics().size(); ++i) {
    if (metrics()[i].key == key) return i;
  }
  fail(ExitCode::kFailure, fmt::format("there is no metric '{}'", key));
}

namespace {

void compare_timbres(HeardClip& heard) {
  const Timbre own = timbre_of(heard.samples, kRate);
  heard.timbre_distance = timbre_distance(heard.clip.true_timbre, own);
  heard.nearer_rivals = std::ranges::count_if(heard.clip.rivals, [&](const Timbre& rival) {
    return timbre_distance(rival, own) <= heard.timbre_distance;
  });
}

}  // namespace

ClipView::ClipView(const TestClip& clip)
    : truth(view_of(clip.truth)), audible_timbre(timbre_of(clip.truth, kRate, kAudibleRange_db)) {
  if (!clip.heard_truth.empty()) heard_truth = spectra_of(clip.heard_truth, kRate);
}

Figures measure(HeardClip& heard, const ClipView& known, const Transcriber& transcribe) {
  heard.known = &known;
  heard.view = view_of(heard.samples);
  const auto notes = transcribe(heard.samples);
  NoteScoreOptions options{.best_octave = true};
  heard.notes = score_notes(heard.clip.notes, notes, options);
  heard.wide_notes = score_notes(heard.clip.notes, notes,
                                 {.onset_tolerance_s = kSungOnsetTolerance_s, .best_octave = true});
  options.offset_ratio = 0.2;
  heard.notes_with_ends = score_notes(heard.clip.notes, notes, options);
  heard.pitch = pitch_accuracy(heard.samples, kRate, heard.clip.notes);
  compare_timbres(heard);
  Figures figures;
  for (const Metric& metric : metrics()) figures.push_back(metric.measure(heard));
  heard.view = {};
  return figures;
}

}  // namespace hum::eval
