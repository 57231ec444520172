// The folder of a report, written aside and renamed when it is whole.
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
  // An earlier report at `path` is replaced by commit(). Throws: kCannotCreate when the place
  // cannot be written, or holds something that is no report.
  explicit ReportFolder(const std::filesystem::path& path);

  // `name` is relative to the folder; folders in it are made.
  void write(const std::string& name, std::string_view bytes) const;
  // As FLAC. Mono at 22,050 Hz; what is beyond full scale is turned down as a whole.
  void write_sound(const std::string& name, std::span<const float> samples) const;
  // The notes over the spectrogram, as PNG. Mono at 22,050 Hz.
  void write_picture(const std::string& name, std::span<const float> samples,
                     std::span<const audio::Note> notes) const;
  // Without it nothing is left behind.
  void commit() { folder_.commit(); }

 private:
  std::filesystem::path place(const std::string& name) const;

  AtomicFolder folder_;
};

}  // namespace hum::eval
