// The latents of training items without the phase of their waves: the mean over encodings of the
// sound, shifted by a few milliseconds and turned in polarity. Nobody hears these changes, but they
// move the latents of a codec that sees the phase; a draft cannot predict that part.
//
// D latent size of all channels together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/mapped_file.h"
#include "data/features/tokens.h"
#include "data/shards/item_folder.h"

namespace hum::data {

// Memory-mapped.
class PhaseFreeLatents {
 public:
  // Reads folder/phase-free-<codec>-<items>/*.npy; first makes the files that are missing, with
  // progress. `encoder`: that of the tokens. docs/formats/items.md.
  PhaseFreeLatents(const ItemFolder& items, const std::filesystem::path& folder,
                   const TokenTable& tokens, const TokenEncoder& encoder);

  // Of a target. Shapes: [kItemFrames, D].
  std::span<const float> operator[](int64_t item) const;

 private:
  int64_t values_per_item_;
  std::vector<MappedFile> files_;
};

}  // namespace hum::data
