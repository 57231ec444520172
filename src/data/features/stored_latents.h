// Latents of all items of a folder that a model made once, in memory-mapped files.
//
// D latent size of all channels together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"

namespace hum::data {

class StoredLatents {
 public:
  // Makes the latents of items first..last-1. Shapes: -> [last - first, kItemFrames, D].
  using Make = std::function<std::vector<float>(int64_t first, int64_t last)>;
  struct Description {
    std::string_view what;  // for the progress
    int64_t items, latent;  // latent: D
    int64_t items_per_call = 1;
  };

  // Reads folder/*.npy; first makes the files that are missing, with progress. Interrupted, it goes
  // on with the file that it was at.
  StoredLatents(const std::filesystem::path& folder, const Description& description,
                const Make& make);

  // Shapes: -> [kItemFrames, D].
  std::span<const float> operator[](int64_t item) const;

 private:
  int64_t values_per_item_;
  std::vector<MappedFile> files_;
};

}  // namespace hum::data
