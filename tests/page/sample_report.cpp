// Writes a small report of tones, for the tests of its pages: hum_sample_report FOLDER. Each row
// plays its own pitch at its own level.
#include <iostream>

#include "audio/test_signal.h"
#include "base/json.h"
#include "eval/listening/mushra.h"
#include "eval/report/examples.h"
#include "eval/report/folder.h"
#include "eval/report/page.h"

namespace hum {
namespace {

constexpr int kRate_hz = 22050;
constexpr double kSeconds = 2;

struct Row {
  const char* name;
  const char* role;
  double hz, amplitude;
};
constexpr Row kRows[] = {{"hum", "system", 550, 0.1},
                         {"hum, true notes", "system", 660, 0.2},
                         {"true rendering", "ceiling", 440, 0.4},
                         {"sine", "floor", 880, 0.05}};

Json rows() {
  const Json figure = {{"value", 0.5}, {"low", 0.4}, {"high", 0.6}, {"clips", 8}};
  Json result = Json::array();
  for (const Row& row : kRows) {
    result.push_back(
        {{"name", row.name}, {"role", row.role}, {"what", "a tone"}, {"fad", nullptr}});
    result.back()["groups"]["all"] = {{"chroma", figure}, {"timbre", figure}};
  }
  return result;
}

Json metrics() {
  Json result = Json::array();
  for (const char* key : {"chroma", "note_f1", "raw_pitch", "timbre", "preset_top1", "mel_distance",
                          "si_sdr", "real_time_factor"}) {
    result.push_back(
        {{"key", key}, {"name", key}, {"unit", ""}, {"better", "higher"}, {"what", "a figure"}});
  }
  return result;
}

void keep_examples(eval::Examples& examples) {
  const std::vector<audio::Note> notes = {{0.2, 1.8, 69, 0.8, {}}};
  const eval::TestClip clip{.plan = {.preset = &data::find_preset("flute")}, .notes = notes};
  for (size_t i = 0; i < eval::kExampleClips; ++i) {
    for (const Row& row : kRows) {
      examples.keep(i, clip, row.name, audio::tone(row.hz, kSeconds, kRate_hz, row.amplitude));
    }
  }
  for (const char* preset : {"violin", "piano"}) {
    examples.add("real singing", std::string("singing-") + preset, preset,
                 audio::tone(300, kSeconds, kRate_hz), notes);
  }
}

void write_report(const std::string& path) {
  eval::ReportFolder folder(path);
  eval::Examples examples(folder);
  keep_examples(examples);
  const std::vector<std::string> rated = {"hum", "hum, true notes", "sine"};
  const Json test = eval::listening_test(examples.json(), rated);
  const Json report = {{"title", "A report of tones"},
                       {"about", {{"seed", 7}}},
                       {"groups", {{"all", 8}}},
                       {"metrics", metrics()},
                       {"rows", rows()},
                       {"examples", examples.json()},
                       {"listening_test", {{"id", test["id"]}, {"rows", rated}}}};
  folder.write("report.json", to_text(report, 1));
  folder.write("index.html", eval::report_page(report));
  folder.write_site(test);
  folder.commit();
}

}  // namespace
}  // namespace hum

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "hum_sample_report FOLDER\n";
    return 2;
  }
  hum::write_report(arguments[1]);
  return 0;
}
