#include "data/stems/mma.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/program.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "base/text.h"

namespace hum::data {

namespace fs = std::filesystem;

namespace {

constexpr size_t kProbe_bytes = 1 << 20;  // more than MMA writes
constexpr const char* kPython = "/usr/bin/python3";

struct DegreeChord {
  int semitones;  // of the root above the key's tonic
  std::string_view kind;
};
// Four bars of one chord each.
using Progression = std::array<DegreeChord, 4>;
constexpr Progression kProgressions[] = {
    {{{0, ""}, {7, ""}, {9, "m"}, {5, ""}}},       {{{0, ""}, {9, "m"}, {5, ""}, {7, "7"}}},
    {{{9, "m"}, {5, ""}, {0, ""}, {7, ""}}},       {{{0, ""}, {5, ""}, {0, ""}, {7, "7"}}},
    {{{2, "m7"}, {7, "7"}, {0, "M7"}, {0, "M7"}}}, {{{0, "M7"}, {9, "m7"}, {2, "m7"}, {7, "7"}}},
    {{{0, "m"}, {8, ""}, {3, ""}, {10, ""}}},      {{{0, "m"}, {5, "m"}, {7, "7"}, {0, "m"}}},
    {{{0, "m"}, {10, ""}, {8, ""}, {7, ""}}},      {{{0, "7"}, {5, "7"}, {0, "7"}, {7, "7"}}},
    {{{5, ""}, {7, ""}, {4, "m"}, {9, "m"}}},      {{{0, ""}, {4, "m"}, {5, ""}, {5, "m"}}},
    {{{0, "m7"}, {5, "7"}, {0, "m7"}, {5, "7"}}},  {{{2, "m7b5"}, {7, "7"}, {0, "m"}, {0, "m"}}},
};
constexpr const char* kRoots[] = {"C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B"};

// Whether the chord on the tonic is minor.
bool is_minor(const Progression& progression) {
  const auto tonic = std::ranges::find(progression, 0, &DegreeChord::semitones);
  return tonic != progression.end() && tonic->kind.starts_with("m");
}

// "...Intro", "...End2".
bool is_introduction_or_ending(const std::string& groove) {
  std::string name = lower_case(groove);
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) {
    name.pop_back();
  }
  return name.ends_with("intro") || name.ends_with("end");
}

std::string text_of(const MmaSong& song) {
  // MMA reads a file of its library without the index that an installation makes.
  std::string text = fmt::format("RndSeed {}\nTempo {}\nGroove {}:{}\n", song.seed, song.tempo_bpm,
                                 song.groove.file, song.groove.name);
  for (size_t i = 0; i < song.bars.size(); ++i) {
    text += fmt::format("{} {}\n", i + 1, song.bars[i]);
  }
  return text;
}

// What Python says of a machine that lacks something, not of the song. MMA itself exits with 1 for
// both, and puts some of these into its own messages.
constexpr std::string_view kMachineFaults[] = {"No space left on device",
                                               "Disk quota exceeded",
                                               "Input/output error",
                                               "Read-only file system",
                                               "Permission denied",
                                               "Too many open files",
                                               "Cannot allocate memory",
                                               "Resource temporarily unavailable",
                                               "MemoryError"};
bool is_machine_fault(const ProgramEnd& end) {
  return end.timed_out || end.exit_code >= 128 ||
         std::ranges::any_of(kMachineFaults, [&](std::string_view fault) {
           return end.output.find(fault) != std::string::npos;
         });
}

[[noreturn]] void fail_to_play(const MmaGroove& groove, const ProgramEnd& end) {
  const auto message = [&](std::string_view reason) {
    return fmt::format("mma cannot play the groove {} of {}: {}", groove.name, groove.file, reason);
  };
  if (end.timed_out) {
    fail(ExitCode::kTemporary, message("it takes too long"), "run the command again");
  }
  if (is_machine_fault(end)) {
    fail(ExitCode::kTemporary, message(fmt::format("exit code {}: {}", end.exit_code, end.output)),
         "check the disk space and the memory, and run the command again");
  }
  fail(ExitCode::kBadData, message(end.output), "choose another groove");
}

}  // namespace

std::vector<MmaGroove> mma_grooves(const fs::path& package) {
  const fs::path library = package / "usr/share/mma/lib";
  require_folder(library, "fetch the songs again: make fetch-stems");
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(library)) {
    if (entry.path().extension() == ".mma") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<MmaGroove> grooves;
  for (const fs::path& file : files) {
    fs::path name = file.lexically_relative(library);
    name.replace_extension();
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string command, groove;
      words >> command >> groove;
      if (lower_case(command) != "defgroove" || is_introduction_or_ending(groove)) continue;
      grooves.push_back({name.string(), groove});
    }
  }
  return grooves;
}

MmaSong draw_mma_song(std::span<const MmaGroove> grooves, uint64_t seed, uint64_t index) {
  HUM_REQUIRE(!grooves.empty(), "draw_mma_song: no grooves");
  Rng rng(seed, "mma song", index);
  const auto draw = [&](size_t count) {
    return static_cast<size_t>(rng.integer(0, static_cast<int64_t>(count) - 1));
  };
  MmaSong song;
  song.groove = grooves[draw(grooves.size())];
  song.tempo_bpm = static_cast<double>(rng.integer(70, 160));
  const size_t key = draw(12);
  const Progression& verse = kProgressions[draw(std::size(kProgressions))];
  const Progression& bridge = kProgressions[draw(std::size(kProgressions))];
  for (size_t bar = 0; bar < 32; ++bar) {
    const DegreeChord& chord = (bar / 8 == 2 ? bridge : verse)[bar % 4];
    song.bars.push_back(kRoots[(key + chord.semitones) % 12] + std::string(chord.kind));
  }
  song.seed = rng.bits();
  song.key = static_cast<int>(key);
  song.is_minor = is_minor(verse);
  return song;
}

audio::MidiSong play_mma(const fs::path& package, const MmaSong& song,
                         std::chrono::milliseconds limit) {
  const ScratchFolder scratch;
  write_file(scratch / "song.mma", text_of(song));
  const fs::path program = fs::absolute(package) / "usr/bin/mma";
  const ProgramEnd end =
      run_program({kPython, program.string(), "-f", "song.mid", "song.mma"}, scratch.path(),
                  {{"HOME", scratch.path().string()},
                   {"LC_ALL", "C.UTF-8"},
                   {"MMA_HOME", (fs::absolute(package) / "usr/share/mma").string()},
                   {"PYTHONDONTWRITEBYTECODE", "1"},
                   {"PYTHONHASHSEED", "0"}},
                  limit);
  if (end.exit_code != 0 || !fs::exists(scratch / "song.mid")) {
    write_file(scratch / "probe", std::string(kProbe_bytes, '.'));  // throws if the disk is full
    fail_to_play(song.groove, end);
  }
  return audio::parse_midi(read_file(scratch / "song.mid"));
}

}  // namespace hum::data
