#include "tests/e2e/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "audio/io.h"
#include "base/error.h"
#include "base/files.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/timing.h"

namespace hum::e2e {

namespace fs = std::filesystem;

namespace {

// In the child: never returns.
[[noreturn]] void become_hum(const std::vector<std::string>& arguments, const RunOptions& options,
                             const fs::path& out, const fs::path& err) {
  setenv("HUM_CACHE", HUM_E2E_CACHE, 1);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  if (!options.in.empty()) dup2(open(options.in.c_str(), O_RDONLY | O_NOCTTY), STDIN_FILENO);
  dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_NOCTTY, 0600), STDOUT_FILENO);
  dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
  if (options.max_file_bytes >= 0) {
    const rlimit limit{static_cast<rlim_t>(options.max_file_bytes),
                       static_cast<rlim_t>(options.max_file_bytes)};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::vector<char*> argv = {const_cast<char*>(HUM_PROGRAM)};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(HUM_PROGRAM, argv.data());
  _exit(127);
}

}  // namespace

Outcome run_hum(const std::vector<std::string>& arguments, const RunOptions& options) {
  const ScratchFolder folder;
  const fs::path out = folder / "out", err = folder / "err";
  const pid_t child = fork();
  HUM_REQUIRE(child >= 0, "cannot fork");
  const fs::path printed = options.out.empty() ? out : fs::path(options.out);
  if (child == 0) become_hum(arguments, options, printed, err);
  if (options.interrupt_after_ms >= 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(options.interrupt_after_ms));
    kill(child, SIGINT);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          options.out.empty() ? read_file(out) : "", read_file(err)};
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
