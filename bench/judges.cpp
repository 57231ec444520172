#include "bench/judges.h"

#include <memory>

#include "audio/io.h"
#include "base/folders.h"
#include "data/synthesis/fluid.h"
#include "decode/read.h"
#include "models/basic_pitch/transcriber.h"

namespace hum::bench {

eval::Transcriber transcriber(runtime::Session& session) {
  auto model = std::make_shared<const models::basic_pitch::Transcriber>(session);
  return [model](std::span<const float> samples) { return model->notes(samples); };
}

eval::Renderer renderer() {
  auto fluid = std::make_shared<data::FluidRenderer>();
  return [fluid](std::span<const audio::Note> notes, const data::Preset& preset, double seconds) {
    return fluid->render(notes, preset.program, seconds);
  };
}

std::filesystem::path example_recording() { return source_folder() / "examples/vocadito_10.wav"; }

std::vector<float> read_example() { return decode::read_recording(example_recording()).samples; }

void write_example(const std::string& path, double seconds) {
  audio::AudioBuffer sound = audio::read_audio(example_recording());
  const std::vector<float> once = sound.samples;
  const auto wanted = static_cast<size_t>(seconds * sound.rate_hz * sound.channels);
  while (sound.samples.size() < wanted) {
    sound.samples.insert(sound.samples.end(), once.begin(), once.end());
  }
  sound.samples.resize(wanted);
  audio::write_audio(path, sound);
}

}  // namespace hum::bench
