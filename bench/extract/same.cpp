// extract-same: a recording's features are the same bits alone, in a batch, beside other
// recordings, from one process and four, with one thread and two.
#include <iostream>

#include "base/error.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/extract/extraction.h"
#include "bench/judges.h"
#include "bench/program.h"
#include "data/shards/testing.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kCores = 2;

// The last one is heard in parts.
std::vector<MusicFile> music(bool smoke) {
  if (smoke) return {{3, ".wav"}, {7, ".flac", 1}};
  return {{5, ".wav", 1},   {8, ".wav"},  {13, ".flac"}, {21, ".mp3"},
          {34, ".flac", 1}, {55, ".mp3"}, {89, ".wav"},  {720, ".mp3", 1}};
}

struct Setting {
  std::string name;
  int processes = 1, threads = 2;
  int64_t batch = 8;
};
const std::vector<Setting> kSettings = {{"one batch", 1, 2, 8},
                                        {"one batch, 1 thread", 1, 1, 8},
                                        {"batches of 3", 1, 2, 3},
                                        {"4 processes", 4, 2, 1},
                                        {"4 processes, 1 thread", 4, 1, 2}};

std::map<std::string, std::string> extracted(const Setting& setting, const fs::path& input,
                                             const fs::path& output) {
  extract_in(setting.processes, {input, "-o", output, "--batch", std::to_string(setting.batch)},
             {{"HUM_THREADS", std::to_string(setting.threads)}});
  return data::files_of(output);
}

}  // namespace

eval::Bar extract_same(const Scale& scale) {
  use_cores(kCores);
  const ScratchFolder folder;
  auto recordings = write_music(folder.path() / "music", music(scale.smoke));
  recordings.push_back(folder.path() / "music/singer.wav");
  fs::copy(example_recording(), recordings.back());
  std::map<std::string, std::string> alone;
  for (const fs::path& recording : recordings) {
    alone.merge(
        extracted({.name = "alone"}, recording, folder.path() / "alone" / recording.stem()));
  }
  eval::Bar bar{.name = "extract-same",
                .value = static_cast<int64_t>(alone.size()),
                .unit = "files of samples, the same from all settings",
                .bar = fmt::format("{} recordings, each alone, and together in {} settings of "
                                   "processes, threads and batches: bit-equal files",
                                   recordings.size(), kSettings.size())};
  eval::TextTable table({"setting", "files", "differing"});
  for (const Setting& setting : kSettings) {
    const auto files =
        extracted(setting, folder.path() / "music", folder.path() / "together" / setting.name);
    const int64_t differing = differing_files(alone, files);
    table.row({setting.name, std::to_string(files.size()), std::to_string(differing)});
    bar.checks.at_most(setting.name + ": differing files", static_cast<double>(differing), 0);
  }
  // Every recording has a window, of six files.
  bar.checks.at_least("files", static_cast<double>(alone.size()),
                      6 * static_cast<double>(recordings.size()));
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
