#include "eval/report/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "audio/io.h"
#include "audio/loudness.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "data/synthesis/timing.h"
#include "eval/report/site.h"
#include "pipeline/picture.h"

namespace hum::eval {

namespace fs = std::filesystem;

ReportFolder::ReportFolder(const fs::path& path) : folder_(path, "report.json", kClipsFile) {
  std::vector<fs::path> halves;  // of files that a killed process was writing
  for (const auto& entry : fs::recursive_directory_iterator(folder_.temporary_path())) {
    if (entry.path().filename().string().starts_with('.')) halves.push_back(entry.path());
  }
  for (const fs::path& file : halves) fs::remove(file);
}

void ReportFolder::commit() {
  folder_.commit();
  fs::remove(folder_.path() / kClipsFile);
}

fs::path ReportFolder::place(const std::string& name) const {
  const fs::path file = folder_.temporary_path() / name;
  create_folder(file.parent_path());
  return file;
}

void ReportFolder::write(const std::string& name, std::string_view bytes) const {
  write_file(place(name), bytes);
}

SoundLevel ReportFolder::write_sound(const std::string& name,
                                     std::span<const float> samples) const {
  float peak = 1;
  for (const float sample : samples) peak = std::max(peak, std::fabs(sample));
  std::vector<float> scaled(samples.begin(), samples.end());
  for (float& sample : scaled) sample /= peak;
  const std::string sound = name + ".flac";
  audio::write_audio(place(sound), audio::from_mono(scaled, data::kSampleRate));
  write(name + ".js",
        fmt::format("humSound('{}', '{}');\n", sound, base64(read_file(place(sound)))));
  return {audio::integrated_lufs(scaled, data::kSampleRate),
          audio::true_peak_dbtp(scaled, data::kSampleRate)};
}

void ReportFolder::write_picture(const std::string& name, std::span<const float> samples,
                                 std::span<const audio::Note> notes) const {
  pipeline::write_picture(place(name), notes, audio::from_mono(samples, data::kSampleRate));
}

void ReportFolder::write_site(const Json& test) const {
  for (const PageFile& file : page_files()) {
    const std::string name(file.path);
    write(name.ends_with(".html") ? name : "page/" + name, file.bytes);
  }
  write("listening-test.js", "const humListeningTest = " + to_text(test, 1) + ";\n");
}

}  // namespace hum::eval
