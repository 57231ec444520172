#include "pipeline/sung_notes/sung_notes.h"

#include "pipeline/sung_notes/melody_line.h"
#include "pipeline/sung_notes/note_onsets.h"
#include "pipeline/sung_notes/voice_bends.h"
#include "pipeline/sung_notes/voiced_notes.h"

namespace hum::pipeline {

std::vector<audio::Note> sung_notes(std::span<const float> samples,
                                    const Transcription& transcription) {
  auto notes = melody_line(transcription);
  if (samples.empty()) return notes;
  const VoiceTrack track = track_voice(samples);
  notes = with_voiced(at_voice(std::move(notes), track), track);
  notes = part_repeated(notes, track);
  notes = at_onsets(std::move(notes), track);
  return with_voice_bends(join_unbroken(notes, track), track);
}

}  // namespace hum::pipeline
