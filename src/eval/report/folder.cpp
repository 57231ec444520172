#include "eval/report/folder.h"

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

ReportFolder::ReportFolder(const fs::path& path) : folder_(path, "report.json") {}

fs::path ReportFolder::place(const std::string& name) const {
  const fs::path file = folder_.temporary_path() / name;
  create_folder(file.parent_path());
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

}  // namespace hum::eval
