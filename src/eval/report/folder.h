// Writes the folder of a report beside its place and renames it when it is complete.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "audio/notes.h"
#include "base/atomic_folder.h"
#include "base/json_fwd.h"

namespace hum::eval {

// Results of clips in the folder of an unfinished report.
inline constexpr const char* kClipsFile = "clips.jsonl";

// -infinity for silence.
struct SoundLevel {
  double lufs = 0;            // integrated loudness (EBU R 128)
  double true_peak_dbtp = 0;  // the highest peak between samples
};

class ReportFolder {
 public:
  // commit() replaces an earlier report at `path`. Continues an unfinished one with a kClipsFile.
  // Throws: kCannotCreate when the place cannot be written, or holds something that is not a
  // report; kTemporary when another process is writing it.
  explicit ReportFolder(const std::filesystem::path& path);

  std::filesystem::path clips_file() const { return folder_.temporary_path() / kClipsFile; }
  // Drops what an unfinished report left.
  void begin_anew() const { folder_.clear(); }

  // `name` is relative to the folder; creates folders in it.
  void write(const std::string& name, std::string_view bytes) const;
  // Writes NAME.flac, and the same bytes as a script NAME.js that calls humSound() of
  // site/sounds.js: a page that is opened from a disk may run scripts, but not read sounds. Mono at
  // 22,050 Hz; a sound beyond full scale is attenuated as a whole. Returns the level in the file.
  SoundLevel write_sound(const std::string& name, std::span<const float> samples) const;
  // Draws the notes over the spectrogram as PNG. Mono at 22,050 Hz.
  void write_picture(const std::string& name, std::span<const float> samples,
                     std::span<const audio::Note> notes) const;
  // Writes the files of site/: pages at the top, all else in page/. `test` (listening_test) is what
  // the listening form plays.
  void write_site(const Json& test) const;
  // Removes kClipsFile from the finished report. Without this call only an unfinished report with
  // that file is left behind.
  void commit();

 private:
  std::filesystem::path place(const std::string& name) const;

  AtomicFolder folder_;
};

}  // namespace hum::eval
