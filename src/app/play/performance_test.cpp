// Streams and files of one performance, with the released weights.
#include "app/play/performance.h"

#include <gmock/gmock.h>

#include "audio/notes.h"

namespace hum::app {
namespace {

// Three windows.
std::vector<audio::Note> tune() {
  std::vector<audio::Note> notes;
  for (int i = 0; i < 9; ++i) {
    const double start_s = i;
    notes.push_back({.start_s = start_s, .end_s = start_s + 0.9, .pitch = 60 + (5 * i) % 12});
  }
  return notes;
}

TEST(Performance, AStreamKeepsTheSamplesOfTheWhole) {
  const auto models = std::make_shared<LoadedModels>("");
  ConversionOptions options;
  options.preset = "violin";
  Converter converter(options, models);
  std::vector<float> streamed;
  const auto kept = converter.stream_and_keep(tune(), [&](std::span<const float> samples) {
    streamed.insert(streamed.end(), samples.begin(), samples.end());
  });
  const auto whole = converter.play(tune());
  ASSERT_EQ(kept.size(), whole.size());
  ASSERT_EQ(streamed.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    ASSERT_EQ(kept[i], whole[i]) << "sample " << i;
    ASSERT_NEAR(streamed[i], whole[i], 1e-3) << "sample " << i;
  }
}

}  // namespace
}  // namespace hum::app
