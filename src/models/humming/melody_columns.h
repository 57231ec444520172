// What the columns of a melody's features say, and features for models that read fewer or more of
// them. Sets of features begin with the columns of the smaller ones (data/synthesis/features.h).
//
// M melody features that a model reads, N >= M of what it is told.
#pragma once

#include <cstdint>
#include <span>

#include "graph/value.h"
#include "runtime/weights.h"

namespace hum::models::humming {

// Of one frame. Shapes: row [N].
double midi_pitch(std::span<const float> row);
bool is_sounding(std::span<const float> row);
// Frames since the onset of the note, at most 300. Needs kAllMelodyFeatures.
int64_t age_frames(std::span<const float> row);
// Of a rest: frames since the end of the note before it, likewise.
int64_t frames_since_end(std::span<const float> row);
// The age of the note; of a rest, that at which the note before it ended. At most 300, which it
// also is if the note before a rest began more than 300 frames ago.
int64_t last_age_frames(std::span<const float> row);

// The first M columns. Shapes: rows [..., N], row-major; dims [..., M] -> dims.
// Throws: kBadData if the rows have fewer.
runtime::HostTensor first_columns(std::span<const float> rows, const graph::Dims& dims);

// Gives a voice or an upsampler that was trained on fewer features zeros as weights of the others,
// so that a training on `features` starts from the same sound. Leaves other weights as they are.
void widen_for_features(runtime::Weights& weights, int64_t features);

}  // namespace hum::models::humming
