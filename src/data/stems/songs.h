// Songs with several parts, as MIDI, from the packages of debs.lock.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/midi.h"

namespace hum::data {

// Where songs come from.
struct SongPackage {
  std::string_view name;     // Debian's; "hum": composed by hum
  std::string_view licence;  // as its copyright file states it
};
// Throws: kUsage with all names for an unknown one.
const SongPackage& song_package(std::string_view name);

// The folder in which `make fetch-stems` has unpacked a package; none if it was not fetched.
std::optional<std::filesystem::path> fetched_package(std::string_view name);

// A part of a WAD, Doom's archive of levels, pictures and music.
struct WadLump {
  std::string name;        // "D_RUNNIN"; several lumps can have the same name
  std::string_view bytes;  // of the WAD
};

// Throws: kBadData if it is not a WAD or is truncated.
// Source: the Unofficial Doom Specs 1.666, chapter 2.
std::vector<WadLump> wad_lumps(std::string_view wad);

struct Song {
  std::string name;    // the file's, or that of the WAD and its lump: "freedoom2/D_RUNNIN"
  std::string sha256;  // of its MIDI file
  audio::MidiSong midi;
};

struct SongFolder {
  std::vector<Song> songs;  // sorted by name
  std::vector<std::string>
      unreadable;  // "name: reason", of files that are not MIDI as hum reads it
};

// The songs of all .mid and .wad files below a folder (of a WAD, the lumps D_*), once each: of
// files with the same bytes, the first by path. Throws: what read_file throws, kBadData for a bad
// WAD.
SongFolder read_songs(const std::filesystem::path& folder);

}  // namespace hum::data
