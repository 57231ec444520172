#include "tests/e2e/tiny_weights.h"

#include "base/folders.h"
#include "models/codec/config.h"
#include "models/codec/token_file.h"
#include "models/testing.h"

namespace hum::e2e {

void write_tiny_weights(const std::filesystem::path& folder) {
  for (const char* name : {"codec", "voice", "upsampler", "coarse"}) {
    models::write_tiny_weights(folder, name);
  }
  std::filesystem::copy(source_folder() / "weights/ear", folder / "ear",
                        std::filesystem::copy_options::recursive);
}

void write_tiny_references(const std::filesystem::path& folder,
                           const std::vector<std::string>& presets) {
  std::filesystem::create_directories(folder / "references");
  for (const std::string& preset : presets) {
    models::codec::TokenFile tokens{.books = 4, .samples = 100 * models::codec::kHopSamples};
    for (int32_t i = 0; i < 400; ++i) tokens.codes.push_back(i % 32);
    write_token_file(folder / "references" / (preset + ".safetensors"), tokens);
  }
}

void write_tiny_ear(const std::filesystem::path& folder) {
  models::write_tiny_weights(folder, "ear");
}

void write_tiny_classifier(const std::filesystem::path& folder) {
  models::write_tiny_weights(folder, "classifier");
}

}  // namespace hum::e2e
