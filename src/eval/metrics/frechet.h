// The distance of two sets of embeddings, each modelled as a Gaussian.
#pragma once

#include "audio/dsp.h"

namespace hum::eval {

// |mean a - mean b|^2 + trace(A + B - 2 (A B)^1/2), A and B the covariances (divided by n - 1).
// Print the embedding and both numbers of rows with it, because it is biased upwards for few rows.
// Shapes: [n, D], [m, D]. Throws: kFailure below two rows, and when the widths differ.
// Source: Heusel et al. 2017; Kilgour et al. 2019, "Frechet audio distance".
double frechet_distance(const audio::Matrix<float>& a, const audio::Matrix<float>& b);

}  // namespace hum::eval
