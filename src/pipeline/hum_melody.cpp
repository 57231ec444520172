#include "pipeline/hum_melody.h"

#include <algorithm>
#include <charconv>

#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "pipeline/sung_notes/sung_notes.h"
#include "pipeline/tuning.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr int kMaxOctaves = 8;
constexpr double kMinAgreement = 0.3;
// Below both, the notes are false detections in noise. One alone is not enough: Basic Pitch finds
// two thirds of a melody 10 dB below noise, where YIN finds nothing.
constexpr double kMinVoicedShare = 0.02;
constexpr double kMinSoundingShare = 0.1;
constexpr double kLowConfidence = 0.4;
constexpr double kLowVoicedShare = 0.35;

std::optional<int> fixed_octave(const std::string& text) {
  if (text == "auto") return std::nullopt;
  int octave = 0;
  const bool has_plus = text.starts_with('+') && !text.starts_with("+-");
  const char* first = text.data() + (has_plus ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), octave);
  if (error != std::errc() || end != text.data() + text.size() || octave < -kMaxOctaves ||
      octave > kMaxOctaves) {
    fail(ExitCode::kUsage, fmt::format("--octave '{}' is neither auto nor -8..8", text),
         "--octave 1 moves the melody up by one octave");
  }
  return octave;
}

double sounding_seconds(std::span<const Note> notes) {
  double seconds = 0;
  for (const Note& note : notes) seconds += note.end_s - note.start_s;
  return seconds;
}

// Mean certainty of the notes, weighted by duration.
double confidence_of(std::span<const Note> notes) {
  double sum = 0;
  for (const Note& note : notes) sum += note.amplitude * (note.end_s - note.start_s);
  const double seconds = sounding_seconds(notes);
  return seconds > 0 ? sum / seconds : 0;
}

std::vector<Note> notes_of(std::span<const float> samples, const TranscribeFunction& transcribe,
                           const HumOptions& options) {
  const Transcription transcription = transcribe(samples);
  return options.polyphonic ? transcription.notes : sung_notes(samples, transcription);
}

void move(HumMelody& melody, const HumOptions& options, std::optional<PitchRange> range) {
  for (Note& note : melody.notes) note.pitch += static_cast<int>(options.transpose);
  if (const auto fixed = fixed_octave(options.octave)) {
    melody.octave = *fixed;
    melody.octave_reason = "set by --octave";
  } else if (range) {
    auto choice = choose_octave(melody.notes, *range);
    melody.octave = choice.octave;
    melody.octave_reason = std::move(choice.reason);
  } else {
    melody.octave_reason = "the instrument's range is unknown";
  }
  for (Note& note : melody.notes) note.pitch += 12 * melody.octave;
  const size_t before = melody.notes.size();
  const size_t lost = std::erase_if(
      melody.notes, [](const Note& note) { return note.pitch < 0 || note.pitch > 127; });
  if (melody.notes.empty()) {
    fail(ExitCode::kUsage, "--octave and --transpose move every note out of MIDI's 0..127",
         "use --octave auto");
  }
  if (lost > 0) {
    melody.warnings.push_back(
        fmt::format("{} of {} notes lie outside MIDI's 0..127 and are dropped", lost, before));
  }
  if (!range) return;
  const auto outside = std::ranges::count_if(melody.notes, [&](const Note& note) {
    return note.pitch < range->low || note.pitch > range->high;
  });
  if (outside > 0) {
    melody.warnings.push_back(fmt::format("{} of {} notes lie outside the instrument's range",
                                          outside, melody.notes.size()));
  }
}

}  // namespace

void validate(const HumOptions& options) {
  fixed_octave(options.octave);
  if (options.transpose < -96 || options.transpose > 96) {
    fail(ExitCode::kUsage, fmt::format("--transpose {} is outside -96..96", options.transpose));
  }
}

HumMelody read_melody(std::span<const float> samples, const TranscribeFunction& transcribe,
                      const HumOptions& options, std::optional<PitchRange> range) {
  validate(options);
  HumMelody melody;
  const TuningEstimate tuning = estimate_tuning(samples);
  melody.voiced_share = tuning.voiced_share;
  const bool retunes = options.tuning == Tuning::kAuto && tuning.agreement > kMinAgreement &&
                       std::abs(tuning.offset_cents) > kMinTuning_cents;
  if (retunes) {
    const Retuned retuned = retune(samples, tuning.offset_cents);
    melody.tuning_cents = tuning.offset_cents;
    melody.notes = notes_of(retuned.samples, transcribe, options);
    for (Note& note : melody.notes) {
      note.start_s /= retuned.stretch;
      note.end_s /= retuned.stretch;
    }
  } else {
    melody.notes = notes_of(samples, transcribe, options);
  }
  const double seconds = static_cast<double>(samples.size()) / data::kSampleRate;
  const double sounding_share = sounding_seconds(melody.notes) / seconds;
  const bool is_noise = tuning.voiced_share < kMinVoicedShare && sounding_share < kMinSoundingShare;
  if (melody.notes.empty() || is_noise) {
    fail(ExitCode::kBadData, "no melody was found in the recording",
         "sing closer to the microphone, or lower --onset-threshold and --frame-threshold");
  }
  melody.confidence = confidence_of(melody.notes);
  if (melody.confidence < kLowConfidence ||
      (!options.polyphonic && tuning.voiced_share < kLowVoicedShare)) {
    melody.warnings.push_back(
        fmt::format("the melody is uncertain (confidence {:.2f}); a quieter room or a clearer "
                    "voice helps",
                    melody.confidence));
  }
  move(melody, options, range);  // reads the certainty of the notes, which their velocity replaces
  melody.notes = data::velocity_from_rms(samples, melody.notes);
  return melody;
}

std::vector<Note> notes_heard(std::span<const float> samples, const TranscribeFunction& transcribe,
                              const HumOptions& options, std::optional<PitchRange> range) {
  try {
    return read_melody(samples, transcribe, options, range).notes;
  } catch (const Error& error) {
    if (error.code() != ExitCode::kBadData) throw;
    return {};
  }
}

}  // namespace hum::pipeline
