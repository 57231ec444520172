#include "data/features/stored_latents.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "data/shards/array_files.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kItemsPerFile = 256;

// A file of fewer items is from before the folder grew.
bool holds(const fs::path& path, int64_t values) {
  if (!fs::exists(path)) return false;
  const ErrorContext context([&] { return "reading " + path.string(); });
  const MappedFile file(path);
  return std::ssize(npy_values<float>(file.bytes())) == values;
}

}  // namespace

StoredLatents::StoredLatents(const fs::path& folder, const Description& description,
                             const Make& make)
    : values_per_item_(kItemFrames * description.latent) {
  create_folder(folder);
  Progress progress(std::string(description.what), description.items);
  for (int64_t first = 0; first < description.items; first += kItemsPerFile) {
    const int64_t last = std::min(first + kItemsPerFile, description.items);
    const fs::path path = folder / fmt::format("{:06}.npy", first / kItemsPerFile);
    if (!holds(path, (last - first) * values_per_item_)) {
      std::vector<float> all;
      for (int64_t i = first; i < last; i += description.items_per_call) {
        const int64_t end = std::min(i + description.items_per_call, last);
        const auto made = make(i, end);
        HUM_CHECK(std::ssize(made) == (end - i) * values_per_item_);
        all.insert(all.end(), made.begin(), made.end());
        progress.update(end);
      }
      const int64_t dims[] = {last - first, kItemFrames, description.latent};
      write_file(path, npy_file<float>(dims, all));
    }
    files_.emplace_back(path);
  }
}

std::span<const float> StoredLatents::operator[](int64_t item) const {
  const auto all = npy_values<float>(files_[static_cast<size_t>(item / kItemsPerFile)].bytes());
  return all.subspan(static_cast<size_t>(item % kItemsPerFile * values_per_item_),
                     static_cast<size_t>(values_per_item_));
}

}  // namespace hum::data
