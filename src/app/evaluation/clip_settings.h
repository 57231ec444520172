// What decides the results of a report's clips: an unfinished report resumes only with the same.
#pragma once

#include <filesystem>
#include <span>

#include "base/json_fwd.h"
#include "eval/harness/evaluation.h"
#include "runtime/session.h"

namespace hum::app {

// {part's folder: hash of its files} of all parts in folders of weights, which may share parts.
Json weights_hashes(std::span<const std::filesystem::path> weights);

// {"program", "machine", "weights", "sound fonts", "test set", "rows"}. "program" is the hash of
// the running program, so that another build judges all clips again; "weights" holds the hashes of
// all parts of the folders. Reads all these files: some tenths of a second.
Json clip_settings(const runtime::Session& session, const eval::TestSetOptions& test_set,
                   std::span<const eval::System> rows,
                   std::span<const std::filesystem::path> weights,
                   std::span<const std::filesystem::path> sound_fonts);

}  // namespace hum::app
