// One step of expectation maximization for a multichannel Wiener filter, from masks of a stereo
// mixture: each bin of a stem gets a spatial covariance, its mean over the segment, so that stems
// from different directions part where their masks do not. Masks are shares of the power, as the
// network learns them: taken as magnitudes, which are squared first, they cost 0.2 to 0.3 dB of
// SDR.
//
// S stems, C = 2 channels, T frames, F bins.
// Source: Duong et al. 2010, "Under-determined reverberant audio source separation using a
// full-rank spatial covariance model"; norbert's expectation_maximization.
#pragma once

#include "graph/ops/spectral.h"

namespace hum::models::separator {

// The stems add up to the mixture, as the masks add up to 1: what regularises the inverse is shared
// among the stems by their masks. Shapes: masks_STF, two of CTF -> two of SCTF.
graph::Spectrum wiener_step(const graph::Value& masks_STF, const graph::Spectrum& mixture_CTF);

}  // namespace hum::models::separator
