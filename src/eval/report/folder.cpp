#include "eval/report/folder.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "audio/io.h"
#include "base/error.h"
#include "base/files.h"
#include "data/synthesis/timing.h"
#include "pipeline/picture.h"

namespace hum::eval {

namespace fs = std::filesystem;

ReportFolder::ReportFolder(fs::path path) : path_(std::move(path)) {
  if (fs::exists(path_) && !fs::exists(path_ / "report.json") &&
      !(fs::is_directory(path_) && fs::is_empty(path_))) {
    fail(ExitCode::kCannotCreate, path_.string() + " is there and holds no report",
         "name a folder that is not there yet");
  }
  if (!path_.has_filename()) path_ = path_.parent_path();  // "report/"
  aside_ = path_.string() + fmt::format(".aside-{}", ::getpid());
  std::error_code error;
  fs::create_directories(aside_, error);
  if (error) {
    fail(ExitCode::kCannotCreate, fmt::format("{}: {}", aside_.string(), error.message()),
         "name a folder in a place that can be written");
  }
}

ReportFolder::~ReportFolder() {
  std::error_code ignored;
  fs::remove_all(aside_, ignored);
}

fs::path ReportFolder::place(const std::string& name) const {
  const fs::path file = aside_ / name;
  fs::create_directories(file.parent_path());
  return file;
}

void ReportFolder::write(const std::string& name, std::string_view bytes) const {
  write_file(place(name), bytes);
}

void ReportFolder::write_sound(const std::string& name, std::span<const float> samples) const {
  float peak = 1;
  for (const float sample : samples) peak = std::max(peak, std::fabs(sample));
  std::vector<float> scaled(samples.begin(), samples.end());
  for (float& sample : scaled) sample /= peak;
  audio::write_audio(place(name), audio::from_mono(scaled, data::kSampleRate));
}

void ReportFolder::write_picture(const std::string& name, std::span<const float> samples,
                                 std::span<const audio::Note> notes) const {
  pipeline::write_picture(place(name), notes, audio::from_mono(samples, data::kSampleRate));
}

void ReportFolder::commit() {
  fs::remove_all(path_);
  fs::rename(aside_, path_);
}

}  // namespace hum::eval
