#include "data/synthesis/item_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/log.h"
#include "base/threads.h"
#include "data/synthesis/features.h"
#include "data/synthesis/item_format_impl.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

namespace fs = std::filesystem;

fs::path file_name(int64_t i) { return fmt::format("items-{:05}.bin", i); }

// A file in memory, read-only.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
      fail(ExitCode::kNoInput, fmt::format("cannot read {}", path.string()),
           "was the rendering interrupted? repeat it: what is whole is kept");
    struct stat status {};
    const bool known = fstat(file, &status) == 0;
    size_ = known ? static_cast<size_t>(status.st_size) : 0;
    if (size_ > 0) data_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (size_ > 0 && data_ == MAP_FAILED) {
      fail(ExitCode::kFailure, fmt::format("cannot map {}", path.string()));
    }
  }
  ~MappedFile() {
    if (size_ > 0) munmap(data_, size_);
  }
  MappedFile(MappedFile&& other) noexcept
      : data_(other.data_), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

// What must be equal for files to belong together. Names are written out, so that a later release
// with other presets does not continue an older folder by accident.
Json identity(const WriteOptions& options, const std::vector<const Preset*>& presets,
              bool has_transcriber) {
  ItemOptions items = options.items;
  items.presets.clear();
  for (const Preset* preset : presets) items.presets.emplace_back(preset->name);
  return Json{{"version", internal::kItemsVersion},
              {"feature_columns", kMelodyFeatures},
              {"items_per_file", options.items_per_file},
              {"transcriber", has_transcriber},
              {"items", to_json(items)}};
}

uint64_t fingerprint_of(const Json& identity) {
  return std::stoull(sha256(identity.dump()).substr(0, 16), nullptr, 16);
}

// Lends makers to threads; there are never more of them than threads.
class MakerPool {
 public:
  MakerPool(ItemOptions options, Transcriber transcriber)
      : options_(std::move(options)), transcriber_(std::move(transcriber)) {}

  ItemMaker take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        ItemMaker maker = std::move(idle_.back());
        idle_.pop_back();
        return maker;
      }
    }
    return ItemMaker(options_, transcriber_);
  }
  void give_back(ItemMaker maker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(maker));
  }

 private:
  ItemOptions options_;
  Transcriber transcriber_;
  std::mutex mutex_;
  std::vector<ItemMaker> idle_;
};

// Refuses a folder of other options; writes items.json otherwise.
void claim_folder(const fs::path& folder, const Json& identity, int64_t count) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    fail(ExitCode::kCannotCreate,
         fmt::format("cannot create {}: {}", folder.string(), error.message()));
  }
  const fs::path manifest = folder / "items.json";
  int64_t total = count;
  if (fs::exists(manifest)) {
    Json found = read_json(manifest);
    total = std::max(total, found.value("count", count));
    found.erase("count");
    if (found != identity) {
      fail(ExitCode::kUsage, fmt::format("{} holds items of other options", folder.string()),
           "choose another folder, or delete this one");
    }
  }
  Json written = identity;
  written["count"] = total;
  write_json(manifest, written);
}

struct FileJob {
  fs::path path;
  uint64_t first_index;
  int64_t count;
};

std::vector<FileJob> jobs_of(const fs::path& folder, const WriteOptions& options) {
  std::vector<FileJob> jobs;
  for (int64_t first = 0, i = 0; first < options.count; first += options.items_per_file, ++i) {
    jobs.push_back({folder / file_name(i), static_cast<uint64_t>(first),
                    std::min(options.items_per_file, options.count - first)});
  }
  return jobs;
}

// A file that holds more items than asked for is as good.
bool is_done(const FileJob& job, int64_t items_per_file, uint64_t fingerprint) {
  if (!fs::exists(job.path)) return false;
  const MappedFile file(job.path);
  for (const int64_t count : {job.count, items_per_file}) {
    if (internal::is_whole_file(file.bytes(), count, job.first_index, fingerprint)) return true;
  }
  return false;
}

}  // namespace

void write_items(const std::filesystem::path& folder, const WriteOptions& options,
                 const Transcriber& transcriber) {
  HUM_REQUIRE(options.count > 0 && options.items_per_file > 0,
              "write_items: {} items, {} a file: both must be positive", options.count,
              options.items_per_file);
  MakerPool makers(options.items, transcriber);
  auto first_maker = makers.take();
  const Json id = identity(options, first_maker.presets(), static_cast<bool>(transcriber));
  makers.give_back(std::move(first_maker));
  claim_folder(folder, id, options.count);
  const uint64_t fingerprint = fingerprint_of(id);
  auto jobs = jobs_of(folder, options);
  std::erase_if(
      jobs, [&](const FileJob& job) { return is_done(job, options.items_per_file, fingerprint); });
  int64_t missing = 0;
  for (const auto& job : jobs) missing += job.count;
  if (missing == 0) return;

  Progress progress("rendering items", missing);
  std::mutex progress_mutex;
  int64_t done = 0;
  const auto start = std::chrono::steady_clock::now();
  const int threads = options.threads > 0 ? static_cast<int>(options.threads) : compute_threads();
  parallel_for(static_cast<int64_t>(jobs.size()), threads, [&](int64_t i) {
    auto maker = makers.take();
    std::vector<TrainingItem> items;
    for (int64_t k = 0; k < jobs[i].count; ++k) {
      items.push_back(maker.make(jobs[i].first_index + static_cast<uint64_t>(k)));
      const std::lock_guard lock(progress_mutex);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      ++done;
      progress.update(done, fmt::format("{:.0f} x real time", static_cast<double>(done) *
                                                                  kItemSeconds / seconds.count()));
    }
    write_file(jobs[i].path, internal::pack_file(items, fingerprint));
    makers.give_back(std::move(maker));
  });
}

void to_float(std::span<const int16_t> stored, std::span<float> out) {
  HUM_REQUIRE(stored.size() == out.size(), "to_float: {} samples into {}", stored.size(),
              out.size());
  for (size_t i = 0; i < stored.size(); ++i) out[i] = static_cast<float>(stored[i]) / 32767;
}

struct ItemFolder::Impl {
  std::vector<std::string> presets;
  std::vector<MappedFile> files;
  int64_t items_per_file = 0;
  int64_t size = 0;
};

ItemFolder::ItemFolder(const std::filesystem::path& folder) : impl_(std::make_unique<Impl>()) {
  const ErrorContext context([&] { return "opening items in " + folder.string(); });
  Json manifest = read_json(folder / "items.json");
  const auto count = manifest.value("count", int64_t{0});
  manifest.erase("count");
  if (manifest.value("version", 0U) != internal::kItemsVersion) {
    fail(ExitCode::kBadData, "items of another version", "render them again into another folder");
  }
  impl_->presets = manifest["items"]["presets"].get<std::vector<std::string>>();
  impl_->items_per_file = manifest["items_per_file"].get<int64_t>();
  const uint64_t fingerprint = fingerprint_of(manifest);
  for (int64_t i = 0; impl_->size < count; ++i) {
    const ErrorContext file_context([&] { return "reading " + file_name(i).string(); });
    const auto& file = impl_->files.emplace_back(folder / file_name(i));
    const auto header = internal::read_header(file.bytes());
    if (header.fingerprint != fingerprint) {
      fail(ExitCode::kBadData, "the file belongs to other options", "delete it and render again");
    }
    impl_->size += header.count;
    if (header.count < impl_->items_per_file) break;  // only the last file may be short
  }
}

ItemFolder::~ItemFolder() = default;
ItemFolder::ItemFolder(ItemFolder&&) noexcept = default;

int64_t ItemFolder::size() const { return impl_->size; }

const std::vector<std::string>& ItemFolder::presets() const { return impl_->presets; }

ItemView ItemFolder::operator[](int64_t i) const {
  HUM_REQUIRE(i >= 0 && i < size(), "item {} of {}", i, size());
  const auto& file = impl_->files[i / impl_->items_per_file];
  return internal::read_item(file.bytes(), i % impl_->items_per_file);
}

}  // namespace hum::data
