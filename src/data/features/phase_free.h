// The latents of training items without the phase of their waves: the mean over encodings of the
// sound, shifted by a few milliseconds and turned in polarity. Nobody hears these changes, but they
// move the latents of a codec that sees the phase; a draft cannot predict that part.
#pragma once

#include <filesystem>

#include "data/features/stored_latents.h"
#include "data/features/tokens.h"
#include "data/shards/item_folder.h"

namespace hum::data {

// Of all targets, in folder/phase-free-<codec>-<items>. `encoder`: that of the tokens.
// docs/formats/items.md.
StoredLatents phase_free_latents(const ItemFolder& items, const std::filesystem::path& folder,
                                 const TokenTable& tokens, const TokenEncoder& encoder);

}  // namespace hum::data
