// Chooses who hears a recording: the ear of the weights hears one voice, Basic Pitch several notes
// at a time. Nothing else decides this.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "models/basic_pitch/notes.h"
#include "models/ear/ear_session.h"
#include "pipeline/hearing.h"
#include "pipeline/hum_melody.h"
#include "runtime/session.h"

namespace hum::app {

// The ear of the weights. The session must outlive it. Throws: kNoInput if they have none; what
// EarSession throws.
std::shared_ptr<const models::ear::EarSession> load_ear(runtime::Session& session,
                                                        const std::filesystem::path& weights);

// Receives the share of the recording that was heard, 0..1; may throw to stop.
using HearProgress = std::function<void(double done)>;

// For generation and `hum notes --voice`, with warnings about the recording. `ear`: the one that is
// loaded already, if there is one. The session must outlive the result. Throws: what load_ear
// throws, unless Basic Pitch hears; what transcriber() throws.
pipeline::HearFunction hear_function(runtime::Session& session,
                                     const std::filesystem::path& weights,
                                     const models::basic_pitch::NoteOptions& notes = {},
                                     const pipeline::HumOptions& hum = {},
                                     std::shared_ptr<const models::ear::EarSession> ear = nullptr,
                                     HearProgress progress = {});

// The ear alone, for training items. Throws like hear_function.
pipeline::HearFunction item_hear_function(runtime::Session& session,
                                          const std::filesystem::path& weights);

// Who hears training items, for their manifest: the ear, by the hash of its weights.
std::string item_heard_by(const std::filesystem::path& weights);

}  // namespace hum::app
