// Folders of released weights: one folder per model, and references/.
#pragma once

#include <filesystem>
#include <string_view>

namespace hum::models {

// Finds the folder of a part of `weights` ("codec", "coarse", "references"). A variant, such as a
// baseline, holds only its own parts and a file `builds_on` with the path, relative to the
// variant's folder, of the folder with the others. For a missing part it returns the path in
// `weights` itself, so that readers report it there. Throws: kBadData when variants build on each
// other.
std::filesystem::path weights_part(const std::filesystem::path& weights, std::string_view part);

// Throws: kNoInput if there is no such folder. The hint names one beside it with a similar name,
// and the released weights.
void require_weights_folder(const std::filesystem::path& weights);

}  // namespace hum::models
