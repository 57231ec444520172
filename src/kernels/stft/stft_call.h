// The custom calls of stft, for the kernel table.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (x[B,N], window[n]) -> (real, imag [B,T,n/2+1]); settings: hop.
extern const pjrt::KernelRow kStftRow;
// The adjoint, (real, imag [B,T,n/2+1], window[n]) -> x[B,N]; settings: hop, inverse. With inverse
// the bins are weighted so that each frame is window * irfft.
extern const pjrt::KernelRow kStftAdjointRow;

// Whether the kernel, either of them, gains on plain ops here.
bool stft_available(const graph::Node& node);

}  // namespace hum::kernels
