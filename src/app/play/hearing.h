// Chooses who hears a recording: the ear of the weights hears one voice, Basic Pitch several notes
// at a time. Nothing else decides this.
#pragma once

#include <filesystem>
#include <string>

#include "models/basic_pitch/notes.h"
#include "pipeline/hearing.h"
#include "pipeline/hum_melody.h"
#include "runtime/session.h"

namespace hum::app {

// For generation and `hum notes --voice`, with warnings about the recording. The session must
// outlive the result. Throws: kNoInput if the weights have no ear, unless Basic Pitch hears; what
// EarSession and transcriber() throw.
pipeline::HearFunction hear_function(runtime::Session& session,
                                     const std::filesystem::path& weights,
                                     const models::basic_pitch::NoteOptions& notes = {},
                                     const pipeline::HumOptions& hum = {});

// The ear alone, for training items. Throws like hear_function.
pipeline::HearFunction item_hear_function(runtime::Session& session,
                                          const std::filesystem::path& weights);

// Who hears training items, for their manifest: the ear, by the hash of its weights.
std::string item_heard_by(const std::filesystem::path& weights);

}  // namespace hum::app
