// Spectra on the host: FFT, STFT and its inverse, mel spectrograms, MFCC. Conventions are
// librosa's, time first. Graphs have their own rfft; this is for features, metrics and tests.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hum::audio {

// Row-major; rows are frames wherever time is one of the two.
template <typename T>
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<T> values;

  Matrix() = default;
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), values(static_cast<size_t>(rows * columns)) {}
  T& operator()(int64_t row, int64_t column) {
    return values[static_cast<size_t>(row * columns + column)];
  }
  const T& operator()(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row * columns + column)];
  }
  std::span<T> row(int64_t i) {
    return {values.data() + i * columns, static_cast<size_t>(columns)};
  }
  std::span<const T> row(int64_t i) const {
    return {values.data() + i * columns, static_cast<size_t>(columns)};
  }
};

// The FFT of real signals of one even size. Not thread-safe.
class RealFft {
 public:
  explicit RealFft(int size);
  ~RealFft();
  RealFft(RealFft&&) noexcept;
  RealFft& operator=(RealFft&&) noexcept;

  int size() const { return size_; }
  int bins() const { return size_ / 2 + 1; }
  // Shapes: time [size], spectrum [size / 2 + 1].
  void forward(std::span<const float> time, std::span<std::complex<float>> spectrum);
  // Scaled by 1 / size: inverse(forward(x)) = x.
  void inverse(std::span<const std::complex<float>> spectrum, std::span<float> time);

 private:
  struct Plans;
  int size_;
  std::unique_ptr<Plans> plans_;
};

// Periodic Hann window.
std::vector<float> hann_window(int samples);

enum class Padding { kZero, kReflect };

struct StftOptions {
  int window_samples = 2048;  // also the FFT size; even
  int hop_samples = 512;
  // Centered: frame t is centered on sample t * hop, the ends are padded by half a window.
  // Otherwise frame t starts at t * hop, and there are only whole frames.
  bool centered = true;
  Padding padding = Padding::kZero;
};

// Shapes: [samples] -> [frames, window / 2 + 1], frames = 1 + samples / hop when centered.
// Source: librosa.stft (hann; pad_mode "constant" is kZero).
Matrix<std::complex<float>> stft(std::span<const float> samples, const StftOptions& options = {});

// Overlap-add, divided by the sum of squared windows: istft(stft(x), x.size()) = x wherever a
// window reaches. Source: librosa.istft.
std::vector<float> istft(const Matrix<std::complex<float>>& spectrum, int64_t samples,
                         const StftOptions& options = {});

// |stft|^power, power 1 or 2.
Matrix<float> spectrogram(std::span<const float> samples, const StftOptions& options, double power);

enum class MelScale { kSlaney, kHtk };

struct MelOptions {
  int bands = 128;
  double low_hz = 0;
  double high_hz = 0;  // 0: half the rate
  MelScale scale = MelScale::kSlaney;
  bool normalised = true;  // each triangle has unit area ("slaney" norm); else unit height
};

// One triangle over the FFT's bins.
struct MelBand {
  int first_bin = 0;
  std::vector<float> weights;
};

// Source: librosa.filters.mel.
std::vector<MelBand> mel_bands(int rate_hz, int window_samples, const MelOptions& options = {});

// Shapes: [frames, bins] -> [frames, bands].
Matrix<float> apply_mel(const Matrix<float>& spectrogram, std::span<const MelBand> bands);

// Shapes: [samples] -> [frames, bands].
// Source: librosa.feature.melspectrogram.
Matrix<float> mel_spectrogram(std::span<const float> samples, int rate_hz,
                              const StftOptions& stft_options = {},
                              const MelOptions& mel_options = {}, double power = 2);

// Turns power into dB, in place; clamps it to range_db below the largest, and to -100 dB.
// Source: librosa.power_to_db (top_db).
void power_to_db(Matrix<float>& power, double range_db = 80);

struct MfccOptions {
  int coefficients = 20;
  StftOptions stft;
  MelOptions mel;
  double range_db = 80;  // bands are clamped to this far below the loudest
};

// Orthonormal DCT-II of the mel power in dB.
// Shapes: [samples] -> [frames, coefficients].
// Source: librosa.feature.mfcc.
Matrix<float> mfcc(std::span<const float> samples, int rate_hz, const MfccOptions& options = {});

}  // namespace hum::audio
