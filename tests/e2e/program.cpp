#include "tests/e2e/program.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "audio/io.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/testing/process.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/timing.h"

namespace hum::e2e {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

Outcome run(const std::string& program, const Words& arguments, const RunOptions& options) {
  const ScratchFolder folder;
  const fs::path out = folder / "out", err = folder / "err";
  Words command = {program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  auto environment = options.environment;
  environment.emplace("HUM_CACHE", HUM_E2E_CACHE);
  hum::testing::Process process(command, {.environment = environment,
                                          .folder = options.folder,
                                          .out = out,
                                          .err = err,
                                          .max_file_bytes = options.max_file_bytes});
  if (options.interrupt_after_ms >= 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(options.interrupt_after_ms));
    hum::testing::eventually([&] {
      return hum::testing::catches(process.pid(), SIGINT) ||
             !hum::testing::is_running(process.pid());
    });
    process.signal(SIGINT);
  }
  if (options.kill_when) {
    while (!options.kill_when() && hum::testing::is_running(process.pid())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    process.signal(SIGKILL);
  }
  const int code = process.wait();
  return {code, read_file(out), read_file(err)};
}

}  // namespace

Outcome run_hum(const Words& arguments, const RunOptions& options) {
  return run(HUM_PROGRAM, arguments, options);
}

Outcome run_shell(const std::string& line, const RunOptions& options) {
  const std::string folder = fs::path(HUM_PROGRAM).parent_path().string();
  return run("/bin/sh", {"-c", "PATH=" + folder + ":$PATH; " + line}, options);
}

void expect_error(const Outcome& run, int code, const std::string& message,
                  const std::string& hint) {
  EXPECT_EQ(run.code, code) << run.err;
  EXPECT_THAT(run.err, ::testing::StartsWith("hum: error: "));
  EXPECT_THAT(run.err, ::testing::HasSubstr(message));
  const size_t at = run.err.find("\nhint: ");
  EXPECT_NE(at, std::string::npos) << run.err;
  EXPECT_THAT(run.err.substr(std::min(at, run.err.size())), ::testing::HasSubstr(hint));
  int64_t lines = 0;
  std::istringstream text(run.err);
  for (std::string line; std::getline(text, line);) lines += line.starts_with("  while ") ? 0 : 1;
  EXPECT_EQ(lines, 2) << run.err;
  EXPECT_EQ(run.out, "");
}

fs::path example_recording() { return source_folder() / "examples/vocadito_10.wav"; }

std::vector<std::string> Program::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

void Program::expect_cases(std::span<const Case> cases, const std::string& setup) const {
  const auto before = files();
  for (const Case& one : cases) {
    SCOPED_TRACE(one.line);
    const Outcome run =
        run_shell(setup + one.line, {.environment = {{"HUM_LOG", "warn"}}, .folder = folder_});
    EXPECT_EQ(files(), before);
    if (one.code != 0) {
      expect_error(run, one.code, one.message, one.hint);
      continue;
    }
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, ::testing::HasSubstr(one.message));
    EXPECT_THAT(run.out, ::testing::HasSubstr(one.hint));
    EXPECT_EQ(run.err, "");
  }
}

void Program::write(const std::string& name, const std::string& bytes) const {
  write_file(folder_ / name, bytes);
}

std::string Program::read(const std::string& name) const { return read_file(folder_ / name); }

std::string Program::write_sound(const std::string& name, const std::vector<float>& mono,
                                 int rate_hz, int channels) const {
  audio::write_audio(folder_ / name, audio::from_mono(mono, rate_hz, channels),
                     audio::SampleFormat::kFloat);
  return path(name);
}

std::string Program::write_hum(const std::string& name, double seconds) const {
  std::vector<audio::Note> notes;
  int degree = 0;
  for (double at_s = 0.3; at_s + 0.5 < seconds; at_s += 0.6) {
    static constexpr int kPitches[] = {57, 59, 60, 64, 62, 60};
    notes.push_back({at_s, at_s + 0.45, kPitches[degree++ % 6], 0.6, {}});
  }
  return write_sound(name, data::render_excitation(notes, data::sample_of(seconds)),
                     data::kSampleRate);
}

}  // namespace hum::e2e
