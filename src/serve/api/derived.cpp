// Results that are made when somebody asks for them: other file formats, and all as one zip.
#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "app/play/outputs.h"
#include "audio/io.h"
#include "audio/notes.h"
#include "audio/sound_blocks.h"
#include "base/error.h"
#include "base/files.h"
#include "serve/api/api_impl.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestWait{5};
constexpr const char* kZipName = "all.zip";

std::string stem_of(const std::string& name) { return fs::path(name).stem().string(); }

bool is_sound(std::string_view name) {
  return std::ranges::any_of(app::kSoundExtensions,
                             [&](std::string_view extension) { return name.ends_with(extension); });
}

// A folder for a file in the making.
class Workplace {
 public:
  explicit Workplace(fs::path path) : path_(std::move(path)) { create_folder(path_); }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// The listed result that `name` can be made from: the same sound, or the notes.
std::optional<std::string> origin_of(const Job& job, const std::string& name) {
  for (const Json& result : job.results) {
    const auto listed = result["name"].get<std::string>();
    const bool is_same_sound =
        is_sound(name) && is_sound(listed) && stem_of(name) == stem_of(listed);
    if (is_same_sound || (name == "melody.csv" && listed == "melody.json")) return listed;
  }
  return std::nullopt;
}

void convert(const fs::path& origin, const fs::path& target, const Json& options) {
  if (!is_sound(target.native())) return audio::write_notes(target, audio::read_notes(origin));
  const bool is_16 = options.value("bits", "16") == "16";
  audio::SoundReader reader(origin, kAnyLength_s);
  audio::SoundWriter writer(target, reader.rate_hz(), reader.channels(),
                            is_16 ? audio::SampleFormat::k16 : audio::SampleFormat::k24);
  for (auto block = reader.next(); !block.empty(); block = reader.next()) writer.write(block);
  writer.commit();
}

struct FreeArchive {
  void operator()(archive* written) const { archive_write_free(written); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

void require(archive* written, int status) {
  if (status >= ARCHIVE_WARN) return;
  fail(ExitCode::kCannotCreate,
       fmt::format("the zip cannot be written: {}", archive_error_string(written)));
}

void add_file(archive* written, const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(1 << 20);
  int64_t rest = static_cast<int64_t>(fs::file_size(path));
  while (rest > 0 && file) {
    file.read(block.data(), std::ssize(block));
    const auto bytes = static_cast<size_t>(file.gcount());
    if (archive_write_data(written, block.data(), bytes) != static_cast<la_ssize_t>(bytes)) {
      require(written, ARCHIVE_FATAL);
    }
    rest -= static_cast<int64_t>(bytes);
  }
  if (rest > 0) fail(ExitCode::kTemporary, "a result cannot be read", "ask again");
}

// Stored without compression: sounds gain little from it.
void write_zip(const fs::path& target, const std::vector<std::pair<std::string, fs::path>>& files) {
  const std::unique_ptr<archive, FreeArchive> written(archive_write_new());
  require(written.get(), archive_write_set_format_zip(written.get()));
  require(written.get(), archive_write_zip_set_compression_store(written.get()));
  require(written.get(), archive_write_open_filename(written.get(), target.c_str()));
  for (const auto& [name, path] : files) {
    const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<int64_t>(fs::file_size(path)));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    require(written.get(), archive_write_header(written.get(), entry.get()));
    add_file(written.get(), path);
  }
  require(written.get(), archive_write_close(written.get()));
}

}  // namespace

std::optional<fs::path> Api::derived(const Job& job, const std::string& name) {
  const std::string& id = job.request.id;
  const auto origin = origin_of(job, name);
  if (!origin && (name != kZipName || job.results.empty())) return std::nullopt;
  const std::string key = result_key(id, name);
  if (auto made = store_.find(key)) return made;
  const LongWork::Permit turn = long_work_.begin();
  const std::unique_lock lock(derive_mutex_, kLongestWait);
  if (!lock.owns_lock()) {
    fail(ExitCode::kTemporary, "other files are being converted", "ask again in a few seconds");
  }
  if (auto made = store_.find(key)) return made;
  const Workplace folder(store_.aside() / new_id());
  const fs::path file = folder.path() / name;
  if (origin) {
    const auto path = store_.find(result_key(id, *origin));
    if (!path) return std::nullopt;
    convert(*path, file, job.request.options);
  } else {
    std::vector<std::pair<std::string, fs::path>> files;
    for (const Json& result : job.results) {
      const auto listed = result["name"].get<std::string>();
      if (const auto path = store_.find(result_key(id, listed))) files.emplace_back(listed, *path);
    }
    write_zip(file, files);
  }
  const auto bytes = static_cast<int64_t>(fs::file_size(file));
  store_.put(key, file);
  records_.add_bytes(id, bytes);
  // Removed meanwhile?
  if (!records_.any_job(id)) store_.remove_all(job_prefix(id));
  return store_.find(key);
}

}  // namespace hum::serve
