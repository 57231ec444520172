// Writes the folder of a report beside its place and renames it when it is complete.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "audio/notes.h"
#include "base/atomic_folder.h"

namespace hum::eval {

class ReportFolder {
 public:
  // commit() replaces an earlier report at `path`. Throws: kCannotCreate when the place cannot be
  // written, or holds something that is not a report.
  explicit ReportFolder(const std::filesystem::path& path);

  // `name` is relative to the folder; creates folders in it.
  void write(const std::string& name, std::string_view bytes) const;
  // Writes FLAC. Mono at 22,050 Hz; a sound beyond full scale is attenuated as a whole.
  void write_sound(const std::string& name, std::span<const float> samples) const;
  // Draws the notes over the spectrogram as PNG. Mono at 22,050 Hz.
  void write_picture(const std::string& name, std::span<const float> samples,
                     std::span<const audio::Note> notes) const;
  // Without this call nothing is left behind.
  void commit() { folder_.commit(); }

 private:
  std::filesystem::path place(const std::string& name) const;

  AtomicFolder folder_;
};

}  // namespace hum::eval
