// Converts arrays to the files of a sample, NumPy's .npy and 16-bit .wav. Writes bytes and reads in
// place.
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
// All values, whatever their dims. Throws: kBadData when it is not a .npy file of this type.
template <typename T>
std::span<const T> npy_values(std::string_view file);

// Samples at 22,050 Hz; one channel, or two interleaved.
std::string wav_file(std::span<const int16_t> samples, int channels = 1);
// All samples of one or two channels. Throws: kBadData when it is not a file that wav_file wrote.
std::span<const int16_t> wav_samples(std::string_view file);

// The scale is that of libsndfile and Python readers: int16 is sample * 32768, clipped at full
// scale.
std::vector<int16_t> to_int16(std::span<const float> samples);
void to_float(std::span<const int16_t> stored, std::span<float> out);

}  // namespace hum::data
