// A steep low-pass filter that moves nothing in time, for the anchors of listening tests.
#pragma once

#include <span>
#include <vector>

namespace hum::audio {

// From the cutoff to full attenuation.
inline constexpr double kLowPassTransition_hz = 500;

// Keeps what is below cutoff_hz within 0.01 dB and attenuates what is above cutoff_hz + 500 Hz by
// 60 dB or more (a linear-phase FIR filter, its delay removed). One channel; the result is as long.
// Throws: kFailure unless 0 < cutoff_hz and cutoff_hz + 500 Hz is below half the rate.
// Source: ITU-R BS.1534-3, 5.1, which asks of an anchor at 3.5 kHz: 0.1 dB, then 25 dB at 4 kHz and
// 50 dB at 4.5 kHz. The window is Kaiser's (Kaiser 1974).
std::vector<float> low_pass(std::span<const float> samples, int rate_hz, double cutoff_hz);

}  // namespace hum::audio
