#include "app/play/transcribe.h"

#include <cstdio>
#include <filesystem>

#include "app/play/batch_conversion.h"
#include "app/play/conversion_report.h"
#include "app/play/hearing.h"
#include "app/play/outputs.h"
#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/stop.h"
#include "audio/notes_json.h"
#include "base/error.h"
#include "base/log.h"
#include "base/names.h"
#include "base/process.h"
#include "decode/read.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

// Logs warnings and keeps them.
void warn(const TranscribeOptions& options, const std::vector<std::string>& warnings,
          Transcribed& result) {
  for (const auto& warning : warnings)
    spdlog::warn("{}: {}", audio::name_of(options.input), warning);
  result.warnings.insert(result.warnings.end(), warnings.begin(), warnings.end());
}

// Finds the notes; the score is still to be made.
Transcribed hear(const pipeline::Recording& recording, const TranscribeOptions& options) {
  Transcribed result{.seconds = recording.seconds};
  warn(options, recording.warnings, result);
  runtime::Session session(session_options());
  const HearProgress stop = [](double) { require_no_stop(); };
  if (!options.voice) {
    const auto hear_all = pipeline::as_transcribed(transcriber(session, options.notes, stop));
    auto heard = hear_all(recording.samples);
    result.score.notes = std::move(heard.notes);
    result.heard_by = std::move(heard.heard_by);
    return result;
  }
  const auto hear_voice =
      hear_function(session, weights_folder(options.weights), options.notes, {}, nullptr, stop);
  auto melody = pipeline::read_melody(recording.samples, hear_voice, {}, std::nullopt,
                                      audio::name_of(options.input));
  result.score.notes = melody.notes;
  result.heard_by = melody.heard_by;
  warn(options, melody.warnings, result);
  result.voice = std::move(melody);
  return result;
}

void require_place(const TranscribeOptions& options) {
  if (options.output.empty()) return;
  if (!is_standard_stream(options.output)) {
    return pipeline::require_output(options.output, {".mid", ".midi", ".csv", ".json"});
  }
  if (options.format != NoteFormat::kMid) return;
  require_no_terminal(stdout, "MIDI", "send it to a file: -o melody.mid, or ... > melody.mid");
}

void write(const TranscribeOptions& options, const pipeline::Score& score) {
  const auto settings = note_file_options(score, options.notes);
  if (!is_standard_stream(options.output)) {
    return audio::write_notes(options.output, score.notes, settings);
  }
  write_to_stdout(to_name(options.format), "the notes", [&](const std::filesystem::path& file) {
    audio::write_notes(file, score.notes, settings);
  });
}

}  // namespace

Transcribed transcribe(const TranscribeOptions& options) {
  models::basic_pitch::validate(options.notes);
  pipeline::validate(options.score);
  pipeline::validate_max_seconds(options.max_seconds);
  const auto recording = decode::read_recording(options.input, options.max_seconds);
  require_place(options);
  auto result = hear(recording, options);
  if (result.score.notes.empty()) {
    fail(ExitCode::kBadData, audio::name_of(options.input) + ": no notes were found",
         "sing or play closer to the microphone, or lower --onset-threshold and --frame-threshold");
  }
  auto& score = result.score;
  score = pipeline::make_score(std::move(score.notes), options.score);
  warn(options, score.warnings, result);
  require_no_stop();
  if (!options.output.empty()) write(options, score);
  return result;
}

Json transcription_report(const TranscribeOptions& options, const Transcribed& transcribed) {
  const auto& [score, seconds, heard_by, voice, warnings] = transcribed;
  Json report = {{"input", options.input}, {"audio_seconds", seconds}, {"heard_by", heard_by}};
  report.update(score_report(score));
  if (voice) {
    report["tuning_cents"] = voice->tuning_cents;
    report["confidence"] = voice->confidence;
    report["voiced_share"] = voice->voiced_share;
  }
  report["warnings"] = warnings;
  report["notes"] = audio::to_json(score.notes);
  return report;
}

std::string notes_text(const pipeline::Score& score) {
  std::string text = "start s    end s  note  MIDI  amplitude\n";
  for (const auto& note : score.notes) {
    text += fmt::format("{:7.3f}  {:7.3f}  {:<4}  {:4d}  {:9.3f}\n", note.start_s, note.end_s,
                        audio::note_name(note.pitch), note.pitch, note.amplitude);
  }
  return text;
}

// An uncertain key is not written to files either.
std::string key_text(const pipeline::Score& score) {
  if (!score.heard_key) return "too few notes for a key";
  const std::string name = pipeline::key_name(score.heard_key->key);
  return score.signature() ? name : "perhaps " + name;
}

std::string transcription_summary(const std::string& output, const Transcribed& transcribed) {
  const pipeline::Score& score = transcribed.score;
  return fmt::format(
      "{}: {} in {:.1f} s, {}, {}\n", output == kStandardStream ? "stdout" : output,
      counted(std::ssize(score.notes), "note"), transcribed.seconds,
      score.tempo ? fmt::format("{:.0f} beats per minute", score.tempo->bpm) : "no steady tempo",
      key_text(score));
}

}  // namespace hum::app
