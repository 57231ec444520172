#include "data/shards/array_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

static_assert(std::endian::native == std::endian::little, "these files are little-endian");

constexpr std::string_view kNpyMagic{"\x93NUMPY\x01\x00", 8};
constexpr size_t kNpyAlign = 64;

template <typename T>
constexpr std::string_view kDescr = "";
template <>
constexpr std::string_view kDescr<float> = "<f4";
template <>
constexpr std::string_view kDescr<uint16_t> = "<u2";

struct WavHeader {
  char riff[4] = {'R', 'I', 'F', 'F'};
  uint32_t riff_bytes;
  char wave_fmt[8] = {'W', 'A', 'V', 'E', 'f', 'm', 't', ' '};
  uint32_t fmt_bytes = 16;
  uint16_t pcm = 1, channels;
  uint32_t rate_hz = kSampleRate, bytes_per_second;
  uint16_t bytes_per_frame, bits = 16;
  char data[4] = {'d', 'a', 't', 'a'};
  uint32_t data_bytes;

  WavHeader(size_t bytes, int count)
      : riff_bytes(static_cast<uint32_t>(bytes + sizeof(WavHeader) - 8)),
        channels(static_cast<uint16_t>(count)),
        bytes_per_second(2 * kSampleRate * static_cast<uint32_t>(count)),
        bytes_per_frame(static_cast<uint16_t>(2 * count)),
        data_bytes(static_cast<uint32_t>(bytes)) {}
};
static_assert(sizeof(WavHeader) == 44);

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <typename T>
std::span<const T> values_of(std::string_view bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

template <typename T>
std::string npy_file(std::span<const int64_t> dims, std::span<const T> values) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 kDescr<T>, fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
  const size_t before = kNpyMagic.size() + sizeof(uint16_t);
  text.append(kNpyAlign - 1 - (before + text.size()) % kNpyAlign, ' ');
  text += '\n';
  const auto size = static_cast<uint16_t>(text.size());
  std::string file(kNpyMagic);
  file.append(reinterpret_cast<const char*>(&size), sizeof size);
  return file.append(text).append(bytes_of(values));
}

template <typename T>
std::span<const T> npy_values(std::string_view file) {
  uint16_t size = 0;
  const size_t before = kNpyMagic.size() + sizeof size;
  if (file.size() >= before) std::memcpy(&size, file.data() + kNpyMagic.size(), sizeof size);
  const std::string_view text = file.substr(std::min(before, file.size())).substr(0, size);
  if (!file.starts_with(kNpyMagic) || text.size() < size ||
      text.find(fmt::format("'descr': '{}'", kDescr<T>)) == std::string_view::npos ||
      text.find("'fortran_order': False") == std::string_view::npos) {
    fail(ExitCode::kBadData, fmt::format("not a .npy file of type {}", kDescr<T>));
  }
  return values_of<T>(file.substr(before + size));
}

template std::string npy_file(std::span<const int64_t>, std::span<const float>);
template std::string npy_file(std::span<const int64_t>, std::span<const uint16_t>);
template std::span<const float> npy_values(std::string_view);
template std::span<const uint16_t> npy_values(std::string_view);

std::string wav_file(std::span<const int16_t> samples, int channels) {
  const WavHeader header(samples.size_bytes(), channels);
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  return file.append(bytes_of(samples));
}

std::span<const int16_t> wav_samples(std::string_view file) {
  const auto begins_as = [&](int channels) {
    if (file.size() < sizeof(WavHeader)) return false;
    const WavHeader header(file.size() - sizeof header, channels);
    return std::memcmp(file.data(), &header, sizeof header) == 0;
  };
  if (!begins_as(1) && !begins_as(2)) {
    fail(ExitCode::kBadData, "not a .wav file of 16 bits, one or two channels and 22,050 Hz");
  }
  return values_of<int16_t>(file.substr(sizeof(WavHeader)));
}

std::vector<int16_t> to_int16(std::span<const float> samples) {
  std::vector<int16_t> result(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const long value = std::lround(std::clamp(samples[i], -1.0F, 1.0F) * 32768);
    result[i] = static_cast<int16_t>(std::min(value, 32767L));
  }
  return result;
}

void to_float(std::span<const int16_t> stored, std::span<float> out) {
  HUM_REQUIRE(stored.size() == out.size(), "to_float: {} samples into {}", stored.size(),
              out.size());
  for (size_t i = 0; i < stored.size(); ++i) out[i] = static_cast<float>(stored[i]) / 32768;
}

}  // namespace hum::data
