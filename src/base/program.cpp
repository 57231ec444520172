#include "base/program.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/child_process.h"
#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"

namespace hum {

ProgramEnd run_program(std::vector<std::string> command, const std::filesystem::path& folder,
                       const std::map<std::string, std::string>& environment,
                       std::chrono::milliseconds limit) {
  const ScratchFolder scratch;
  const std::filesystem::path output = scratch / "output";
  const OpenFile nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const OpenFile written(::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!written.is_open()) {
    fail(ExitCode::kCannotCreate, fmt::format("{}: {}", output.string(), std::strerror(errno)),
         "check that the disk is not full");
  }
  const int files[] = {nothing.descriptor(), written.descriptor(), written.descriptor()};
  const ProcessEnd end = ChildProcess({std::move(command), environment, folder}, files).end(limit);
  return {.exit_code = end.signal == 0 ? end.exit_code : 128 + end.signal,
          .timed_out = end.timed_out,
          .output = read_file(output)};
}

}  // namespace hum
