// Arrays as the small files inside a sample: NumPy's .npy and 16-bit .wav. Written as bytes,
// read where they lie.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hum::data {

// Values of float, uint16_t: row-major, little-endian. Source: numpy.lib.format, version 1.0.
template <typename T>
std::string npy_file(std::span<const int64_t> dims, std::span<const T> values);
// All values, whatever their dims. Throws: kBadData when it is no .npy file of this type.
template <typename T>
std::span<const T> npy_values(std::string_view file);

// Samples at 22,050 Hz; one channel, or two that are interleaved.
std::string wav_file(std::span<const int16_t> samples, int channels = 1);
// All samples, of either number of channels. Throws: kBadData when it is no file that wav_file
// wrote.
std::span<const int16_t> wav_samples(std::string_view file);

// One scale for every reader, libsndfile's and Python's too: int16 is sample * 32768, clipped at
// full scale.
std::vector<int16_t> to_int16(std::span<const float> samples);
void to_float(std::span<const int16_t> stored, std::span<float> out);

}  // namespace hum::data
