// Folders of released weights: a folder a model, and references/.
#pragma once

#include <filesystem>
#include <string_view>

namespace hum::models {

// Where `weights` has a part ("codec", "coarse", "references"). A variant, such as a baseline,
// holds only what is its own and a file `builds_on` with the path, from the variant's folder, of
// the folder that has the rest. A part that is nowhere is in `weights` itself, where readers miss
// it. Throws: kBadData when variants build on each other.
std::filesystem::path weights_part(const std::filesystem::path& weights, std::string_view part);

}  // namespace hum::models
