// How clearly notes begin: the rise of the level in mel bands at their onsets. Spectral losses
// compare frame by frame, so a soft attack costs them little: only the few frames of an onset
// differ.
#pragma once

#include "nn/spectral_loss.h"

namespace hum::nn {

// Mean of |difference of the rise of log10 mel magnitudes over one window|, over bands and the
// frames that are at most one frame of `onset_BT` away from an onset; 0 if there is none. Values
// more than `floor_db` below the target clip's peak compare equal. The target gets no gradient.
// onset_BT: 1 in the first frame of a note; each frame is a multiple of scale.hop_samples.
// Shapes: prediction_BN, target_BN f32, onset_BT -> scalar.
graph::Value onset_distance(const graph::Value& prediction_BN, const graph::Value& target_BN,
                            const graph::Value& onset_BT, const MelScale& scale, double floor_db);

}  // namespace hum::nn
