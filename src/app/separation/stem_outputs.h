// Which stems of which songs `hum separate` writes, and to which files.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "audio/io.h"
#include "audio/sound_blocks.h"
#include "base/files.h"

namespace hum::app {

struct StemOutputOptions {
  std::string output = "separated";  // a folder; "-": stdout
  bool recursive = false;            // also the songs in subfolders
  std::string stems;                 // "drums,bass,rest"; empty: all six
  std::string two_stems;             // a stem: that, and all others as one
  std::string filename = "{track}/{stem}.{ext}";
  bool mp3 = false, flac = false;
  bool int24 = false, float32 = false;
  bool overwrite = false;

  std::string extension() const { return mp3 ? "mp3" : flac ? "flac" : "wav"; }
  audio::SampleFormat samples() const {
    return float32 ? audio::SampleFormat::kFloat
           : int24 ? audio::SampleFormat::k24
                   : audio::SampleFormat::k16;
  }

  template <class V>
  void visit_fields(V& v) {
    v("recursive", recursive, "also separate the songs in subfolders");
    v("stems", stems,
      "stems to write, with commas: drums, bass, vocals, lead, chordal, other; rest is all that "
      "is not named (default: all six)");
    v("two_stems", two_stems, "write this stem, and all others together as no_STEM");
    v("filename", filename, "names of the files in the folder, with {track}, {stem} and {ext}");
    v("mp3", mp3, "write mp3 files");
    v("flac", flac, "write flac files");
    v("int24", int24, "24 bits a sample instead of 16");
    v("float32", float32, "float samples, which may exceed full scale");
    v("overwrite", overwrite, "replace files that exist (default: keep them)");
  }
};

// A stem to write: a name, and the stems of the models that it consists of.
struct WantedStem {
  std::string name;
  std::set<std::string> parts;
};

// Throws: kUsage, naming the flag, unless there is a stem of this name. `may_be_rest`: or "rest".
void require_stem(const std::string& name, const char* flag, bool may_be_rest);

// Throws: kUsage for names that do not exist or are given twice, and options that do not fit.
std::vector<WantedStem> wanted_stems(const StemOutputOptions& options);

// Whether each is the vocals, or all but the vocals.
bool are_only_vocals(const std::vector<WantedStem>& stems);

struct StemFilePlan {
  std::filesystem::path path;  // "-": stdout
  WantedStem stem;
};

struct SongPlan {
  std::filesystem::path input;  // "-": stdin
  std::string track;
  std::vector<StemFilePlan> files;
  std::vector<StemFilePlan> kept;  // files that exist and stay
};

struct PlannedStems {
  std::vector<SongPlan> songs;
  std::unique_ptr<OutputFolder> folder;  // with its subfolders; none for stdout
};

// Inputs may be folders. Throws, before any long work: what find_recordings throws; kUsage for a
// pattern that does not work, two outputs with one name, an output that would replace an input, and
// more than one stem for stdout; kCannotCreate when an output cannot be written.
PlannedStems plan_stems(const std::vector<std::string>& inputs, const StemOutputOptions& options);

// Throws: what reading throws; kCannotCreate, naming the file, when one that is kept has not the
// rate, channels and length of the song. Lengths of mp3 files and of stdin do not count.
void require_kept_stems(const SongPlan& plan, const audio::SoundReader& song);

}  // namespace hum::app
