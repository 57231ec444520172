#include "app/play/transcribe.h"

#include <optional>
#include <vector>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "base/log.h"
#include "pipeline/hum_melody.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

std::vector<audio::Note> notes_of(const pipeline::Recording& recording,
                                  const TranscribeOptions& options) {
  runtime::Session session(session_options());
  const auto transcribe = transcriber(session, options.notes);
  if (!options.clean_up) return transcribe(recording.samples).notes;
  auto melody = pipeline::read_melody(recording.samples, transcribe, {}, std::nullopt);
  for (const auto& warning : melody.warnings) spdlog::warn("{}: {}", options.input, warning);
  return std::move(melody.notes);
}

}  // namespace

Transcribed transcribe(const TranscribeOptions& options) {
  models::basic_pitch::validate(options.notes);
  pipeline::validate(options.score);
  const auto recording = pipeline::read_recording(options.input, options.max_seconds);
  if (!options.output.empty()) {
    pipeline::require_output(options.output, {".mid", ".midi", ".csv", ".json"});
  }
  for (const auto& warning : recording.warnings) spdlog::warn("{}: {}", options.input, warning);
  auto notes = notes_of(recording, options);
  if (notes.empty()) {
    fail(ExitCode::kBadData, options.input + ": no notes were found",
         "sing or play closer to the microphone, or lower --onset-threshold and --frame-threshold");
  }
  auto score = pipeline::make_score(std::move(notes), options.score);
  for (const auto& warning : score.warnings) spdlog::warn("{}: {}", options.input, warning);
  if (!options.output.empty()) {
    audio::write_notes(options.output, score.notes,
                       {.tempo_bpm = score.tempo_bpm(),
                        .first_beat_s = score.first_beat_s(),
                        .multiple_pitch_bends = options.notes.multiple_pitch_bends});
  }
  return {std::move(score), recording.seconds};
}

std::string notes_text(const pipeline::Score& score) {
  std::string text = "start s    end s  pitch  amplitude\n";
  for (const auto& note : score.notes) {
    text += fmt::format("{:7.3f}  {:7.3f}  {:5d}  {:9.3f}\n", note.start_s, note.end_s, note.pitch,
                        note.amplitude);
  }
  return text;
}

std::string transcription_summary(const std::string& output, const Transcribed& transcribed) {
  const auto& [score, seconds] = transcribed;
  return fmt::format(
      "{}: {} notes in {:.1f} s, {}, {}\n", output, score.notes.size(), seconds,
      score.tempo ? fmt::format("{:.0f} beats per minute", score.tempo->bpm) : "no steady tempo",
      score.heard_key ? pipeline::key_name(score.heard_key->key) : "too few notes for a key");
}

}  // namespace hum::app
