#include "tests/serve/hostile_sounds.h"

#include <cstring>
#include <limits>

#include "audio/io.h"
#include "audio/test_signal.h"
#include "base/files.h"
#include "base/scratch_folder.h"

namespace hum::serve {
namespace {

using audio::AudioBuffer;
using audio::SampleFormat;

constexpr int kRate_hz = 22050;

std::string bytes_of(const char* name, const AudioBuffer& sound,
                     SampleFormat format = SampleFormat::k16) {
  const ScratchFolder folder;
  audio::write_audio(folder / name, sound, format);
  return read_file(folder / name);
}

AudioBuffer tone(double seconds, int rate_hz = kRate_hz, int channels = 1) {
  return audio::from_mono(audio::tone(220, seconds, rate_hz), rate_hz, channels);
}

AudioBuffer silence(double seconds, int rate_hz = kRate_hz) {
  return {rate_hz, 1, std::vector<float>(static_cast<size_t>(seconds * rate_hz))};
}

// A wav of 32-bit floats in which all samples are this.
std::string constant_wav(float value) {
  AudioBuffer sound = tone(1);
  for (float& sample : sound.samples) sample = value;
  return bytes_of("a.wav", sound, SampleFormat::kFloat);
}

// A copy with this little-endian field. Of hum's wavs: 4 size of the file, 20 format, 22 channels,
// 24 rate, 34 bits, 40 size of the sound.
template <typename Field>
std::string with_field(std::string bytes, size_t at, Field value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

void add_lying_wavs(std::vector<HostileSound>& sounds) {
  const std::string wav = good_sound();
  const auto add = [&](const char* name, std::string bytes, bool is_refused) {
    sounds.push_back({name, std::move(bytes), is_refused});
  };
  add("a wav with a size of 4 GiB", with_field(wav, 40, uint32_t{0xffffffff}), false);
  add("a wav with a size of 0", with_field(wav, 40, uint32_t{0}), false);
  add("a wav in a file of 4 GiB by its word", with_field(wav, 4, uint32_t{0xffffffff}), false);
  add("a wav without channels", with_field(wav, 22, uint16_t{0}), true);
  add("a wav with 65,535 channels", with_field(wav, 22, uint16_t{65535}), true);
  add("a wav at 0 Hz", with_field(wav, 24, uint32_t{0}), true);
  add("a wav at 4 GHz", with_field(wav, 24, uint32_t{0xffffffff}), true);
  add("a wav with 0 bits", with_field(wav, 34, uint16_t{0}), true);
  add("a wav of an unknown format", with_field(wav, 20, uint16_t{0x7777}), true);
  add("a wav that ends in its header", wav.substr(0, 30), true);
  add("a wav of only a header", wav.substr(0, 44), true);
  add("half a wav", wav.substr(0, wav.size() / 2), false);
}

}  // namespace

std::string good_sound() { return bytes_of("a.wav", tone(1)); }

std::vector<HostileSound> hostile_sounds(double most_seconds) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const std::string flac = bytes_of("a.flac", tone(1)), ogg = bytes_of("a.ogg", tone(1));
  std::vector<HostileSound> sounds = {
      {"nothing", ""},
      {"one byte", "R"},
      {"text", "I am a hum, believe me."},
      {"zeros", std::string(100'000, '\0')},
      {"a program", std::string("\x7f"
                                "ELF\2\1\1",
                                7) +
                        std::string(2000, 'x')},
      {"a zip", "PK\3\4" + std::string(2000, 'x')},
      {"the head of a webm", std::string("\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1f", 12)},
      {"the head of an m4a", std::string("\0\0\0\x18"
                                         "ftypM4A ",
                                         12) +
                                 std::string(500, 'x')},
      {"silence", bytes_of("a.wav", silence(2))},
      {"0.1 s", bytes_of("a.wav", tone(0.1))},
      {"a second too much", bytes_of("a.wav", silence(most_seconds + 1, 4000))},
      {"an ogg that decodes to hours", bytes_of("a.ogg", silence(2 * 3600, 8000))},
      {"a flac that decodes to hours", bytes_of("a.flac", silence(2 * 3600, 8000))},
      {"samples that are no numbers", constant_wav(kNan)},
      {"infinite samples", constant_wav(kInfinite)},
      {"huge samples", constant_wav(1e30F), false},
      {"8 channels at 192 kHz", bytes_of("a.wav", tone(1, 192'000, 8)), false},
      {"half a flac", flac.substr(0, flac.size() / 2), false},
      {"half an ogg", ogg.substr(0, ogg.size() / 2), false},
      {"two oggs", ogg + ogg, false}};
  add_lying_wavs(sounds);
  return sounds;
}

}  // namespace hum::serve
