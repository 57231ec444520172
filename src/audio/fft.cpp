#include <kiss_fftr.h>

#include <algorithm>

#include "audio/dsp.h"
#include "base/error.h"

namespace hum::audio {
namespace {

struct FreePlan {
  void operator()(kiss_fftr_cfg plan) const { kiss_fftr_free(plan); }
};
using Plan = std::unique_ptr<std::remove_pointer_t<kiss_fftr_cfg>, FreePlan>;

static_assert(sizeof(kiss_fft_cpx) == sizeof(std::complex<float>));

}  // namespace

struct RealFft::Plans {
  Plan forward, inverse;
};

RealFft::RealFft(int size) : size_(size) {
  HUM_REQUIRE(size >= 2 && size % 2 == 0, "fft: size must be even and positive, got {}", size);
  plans_ = std::make_unique<Plans>(Plans{Plan(kiss_fftr_alloc(size, 0, nullptr, nullptr)),
                                         Plan(kiss_fftr_alloc(size, 1, nullptr, nullptr))});
  HUM_CHECK(plans_->forward != nullptr && plans_->inverse != nullptr, "fft of {} samples", size);
}

RealFft::~RealFft() = default;
RealFft::RealFft(RealFft&&) noexcept = default;
RealFft& RealFft::operator=(RealFft&&) noexcept = default;

void RealFft::forward(std::span<const float> time, std::span<std::complex<float>> spectrum) {
  HUM_CHECK(time.size() == static_cast<size_t>(size_) &&
            spectrum.size() == static_cast<size_t>(bins()));
  kiss_fftr(plans_->forward.get(), time.data(), reinterpret_cast<kiss_fft_cpx*>(spectrum.data()));
}

void RealFft::inverse(std::span<const std::complex<float>> spectrum, std::span<float> time) {
  HUM_CHECK(time.size() == static_cast<size_t>(size_) &&
            spectrum.size() == static_cast<size_t>(bins()));
  kiss_fftri(plans_->inverse.get(), reinterpret_cast<const kiss_fft_cpx*>(spectrum.data()),
             time.data());
  const float scale = 1.0f / static_cast<float>(size_);
  for (float& sample : time) sample *= scale;
}

}  // namespace hum::audio
