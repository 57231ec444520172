#include "bench/judges.h"

#include <memory>

#include "base/files.h"
#include "data/synthesis/fluid.h"
#include "models/basic_pitch/transcriber.h"
#include "pipeline/recording.h"

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

std::vector<float> read_example() { return pipeline::read_recording(example_recording()).samples; }

}  // namespace hum::bench
