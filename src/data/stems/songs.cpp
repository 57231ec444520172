#include "data/stems/songs.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "audio/io.h"
#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/hash.h"

namespace hum::data {

namespace fs = std::filesystem;

namespace {

constexpr size_t kWadHeader = 12, kWadEntry = 16, kWadName = 8;

[[noreturn]] void fail_wad(const std::string& what) {
  fail(ExitCode::kBadData, "not a valid WAD: " + what, "fetch the file again");
}

uint32_t little_endian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

// Throws kBadData unless the WAD has these bytes.
std::string_view part_of(std::string_view wad, uint64_t from, uint64_t size) {
  if (from + size > wad.size()) fail_wad("it ends too early");
  return wad.substr(from, size);
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class Collector {
 public:
  void add(const std::string& name, std::string_view bytes) {
    std::string hash = sha256(bytes);
    if (!seen_.insert(hash).second) return;
    try {
      found_.songs.push_back({name, std::move(hash), audio::parse_midi(bytes)});
    } catch (const Error& error) {  // files of others: their faults are a result
      found_.unreadable.push_back(name + ": " + error.message());
    }
  }

  SongFolder take() {
    std::ranges::stable_sort(found_.songs, {}, &Song::name);
    return std::move(found_);
  }

 private:
  std::set<std::string> seen_;
  SongFolder found_;
};

constexpr SongPackage kPackages[] = {{"openttd-openmsx", "GPL-2"},
                                     {"planetblupi-music-midi", "GPL-3+"},
                                     {"freedoom", "BSD-3-Clause"},
                                     {"mma", "GPL-2+"},
                                     {"hum", "hum's own"}};

}  // namespace

const SongPackage& song_package(std::string_view name) {
  const auto found = std::ranges::find(kPackages, name, &SongPackage::name);
  if (found != std::end(kPackages)) return *found;
  std::string names;
  for (const SongPackage& package : kPackages) {
    names += (names.empty() ? "" : ", ") + std::string(package.name);
  }
  fail(ExitCode::kUsage, fmt::format("no songs are known of a package '{}'", name),
       "use some of " + names);
}

std::optional<fs::path> fetched_package(std::string_view name) {
  const fs::path package = in_wheels(fs::path("debian") / name);
  return is_folder(package) ? std::optional(package) : std::nullopt;
}

std::vector<WadLump> wad_lumps(std::string_view wad) {
  if (!wad.starts_with("IWAD") && !wad.starts_with("PWAD")) {
    fail_wad("it starts with neither IWAD nor PWAD");
  }
  part_of(wad, 0, kWadHeader);
  const uint64_t count = little_endian(wad, 4);
  const std::string_view directory = part_of(wad, little_endian(wad, 8), count * kWadEntry);
  std::vector<WadLump> lumps;
  for (size_t at = 0; at < directory.size(); at += kWadEntry) {
    const std::string_view name = directory.substr(at + 8, kWadName);
    lumps.push_back({std::string(name.substr(0, name.find('\0'))),
                     part_of(wad, little_endian(directory, at), little_endian(directory, at + 4))});
  }
  return lumps;
}

SongFolder read_songs(const fs::path& folder) {
  Collector collector;
  for (const fs::path& file : files_below(folder)) {
    const std::string extension = audio::extension_of(file);
    if (extension == ".mid") collector.add(file.stem().string(), read_file(file));
    if (extension != ".wad") continue;
    const ErrorContext context([&] { return "reading " + file.string(); });
    const std::string wad = read_file(file);
    for (const WadLump& lump : wad_lumps(wad)) {
      if (!lump.name.starts_with("D_")) continue;
      collector.add(file.stem().string() + "/" + lump.name, lump.bytes);
    }
  }
  return collector.take();
}

}  // namespace hum::data
