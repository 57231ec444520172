// Chooses who hears a recording: the ear if the weights have one, else Basic Pitch with the
// clean-up. Nothing else decides this.
#pragma once

#include <filesystem>
#include <string>

#include "models/basic_pitch/notes.h"
#include "pipeline/hearing.h"
#include "pipeline/hum_melody.h"
#include "runtime/session.h"

namespace hum::app {

// For generation and `hum notes --voice`, with warnings about the recording. Basic Pitch alone
// hears what is polyphonic. The session must outlive the result. Throws: what EarSession and
// transcriber() throw.
pipeline::HearFunction hear_function(runtime::Session& session,
                                     const std::filesystem::path& weights,
                                     const models::basic_pitch::NoteOptions& notes = {},
                                     const pipeline::HumOptions& hum = {});

// For training items, which are heard as they sound: the clean-up does not retune them.
pipeline::HearFunction item_hear_function(runtime::Session& session,
                                          const std::filesystem::path& weights);

// Who hears training items, for their manifest: the ear by the hash of its weights, "" for the
// clean-up, which the manifests of earlier releases do not mention.
std::string item_heard_by(const std::filesystem::path& weights);

}  // namespace hum::app
