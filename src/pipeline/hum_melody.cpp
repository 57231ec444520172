#include "pipeline/hum_melody.h"

#include <algorithm>
#include <charconv>

#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "pipeline/tuning.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr int kMaxOctaves = 8;
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
  for (const Note& note : notes) sum += audio::certainty(note) * (note.end_s - note.start_s);
  const double seconds = sounding_seconds(notes);
  return seconds > 0 ? sum / seconds : 0;
}

// Why the melody is uncertain; empty if it is not.
std::string doubt(const HumMelody& melody, const HumOptions& options) {
  if (melody.confidence < kLowConfidence) {
    return fmt::format("the confidence of its notes is {:.2f}", melody.confidence);
  }
  if (options.polyphonic || melody.voiced_share >= kLowVoicedShare) return "";
  return fmt::format("only {:.0f} % of the sound has a clear pitch", 100 * melody.voiced_share);
}

void move(HumMelody& melody, const HumOptions& options, std::optional<PitchRange> range) {
  if (const auto fixed = fixed_octave(options.octave)) {
    melody.octave = *fixed;
    melody.octave_reason = "as requested";
  } else if (range) {
    auto choice = choose_octave(melody.notes, *range);
    melody.octave = choice.octave;
    melody.octave_reason = std::move(choice.reason);
  } else {
    melody.octave_reason = "the instrument's range is unknown";
  }
  const auto semitones = static_cast<int>(12 * melody.octave + options.transpose);
  for (Note& note : melody.notes) audio::transpose(note, semitones);
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
    fail(ExitCode::kUsage, fmt::format("--transpose {} is outside -96..96", options.transpose),
         "12 semitones are an octave");
  }
}

HumMelody read_melody(std::span<const float> samples, const HearFunction& hear,
                      const HumOptions& options, std::optional<PitchRange> range,
                      const std::string& name, const std::string& hint) {
  validate(options);
  HeardVoice voice = hear(samples);
  HumMelody melody{.notes = std::move(voice.notes),
                   .heard_by = std::move(voice.heard_by),
                   .tuning_cents = voice.tuning_cents.value_or(0),
                   .voiced_share = voice.voiced_share ? *voice.voiced_share
                                                      : estimate_tuning(samples).voiced_share,
                   .warnings = std::move(voice.warnings)};
  const double seconds = static_cast<double>(samples.size()) / data::kSampleRate;
  const double sounding_share = sounding_seconds(melody.notes) / seconds;
  const bool is_noise = melody.voiced_share < kMinVoicedShare && sounding_share < kMinSoundingShare;
  if (melody.notes.empty() || is_noise) {
    fail(ExitCode::kBadData, "no melody was found in " + name,
         !hint.empty() ? hint
         : options.polyphonic
             ? "play closer to the microphone, or lower --onset-threshold and --frame-threshold"
             : "sing closer to the microphone, or in a quieter room");
  }
  melody.confidence = confidence_of(melody.notes);
  if (const std::string reason = doubt(melody, options); !reason.empty()) {
    melody.warnings.push_back(fmt::format(
        "the melody is uncertain ({}); a quieter room or a clearer voice helps", reason));
  }
  // Reads the certainty of the notes, which may be the amplitude that their velocity replaces.
  move(melody, options, range);
  melody.notes = data::velocity_from_rms(samples, melody.notes);
  return melody;
}

HumMelody given_melody(std::vector<Note> notes, const HumOptions& options,
                       std::optional<PitchRange> range) {
  validate(options);
  if (notes.empty()) fail(ExitCode::kBadData, "there are no notes to play", "give at least one");
  HumMelody melody{.notes = std::move(notes), .heard_by = "given", .confidence = 1};
  move(melody, options, range);
  return melody;
}

std::vector<Note> notes_heard(std::span<const float> samples, const HearFunction& hear,
                              const HumOptions& options, std::optional<PitchRange> range) {
  try {
    return read_melody(samples, hear, options, range).notes;
  } catch (const Error& error) {
    if (error.code() != ExitCode::kBadData) throw;
    return {};
  }
}

}  // namespace hum::pipeline
