// Makes a decoder of one channel play two channels, whose latents are concatenated
// (audio/channels.h).
#pragma once

#include "audio/channels.h"
#include "pipeline/play.h"

namespace hum::pipeline {

// Renders all windows of one channel, then those of the next, so batches are as large as with one.
// Shapes: C channels, windows with latents [T, D C] -> [T 441, C], left and right interleaved.
RenderFunction render_channels(RenderFunction one, audio::Channels channels);

// The mean of the channels. Shapes: windows with latents [T, D C] -> [T 441].
RenderFunction render_mix(RenderFunction one, audio::Channels channels);

}  // namespace hum::pipeline
