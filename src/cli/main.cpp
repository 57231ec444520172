// The program's entry point. It reports an error as one line and an exit code.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <iostream>

#include "app/stop.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "cli/dispatch.h"
#include "decode/confined.h"

namespace hum::cli {
namespace {

// An error after a stop signal counts as the stop itself: the signal also interrupts calls that
// wait inside a library.
int exit_code(ExitCode code) {
  return app::stop_signal() != 0 ? 128 + app::stop_signal() : static_cast<int>(code);
}

// A standard stream that is closed would lend its number to the next file that is opened, and our
// output would end up there. It becomes /dev/null, opened so that its use still fails.
void hold_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Reports every error as one line and an exit code.
int run_or_report(int argc, char** argv) {
  try {
    init_logging();
    app::install_stop_handler();
    const int code = dispatch({argv + 1, argv + argc});
    flush_output();
    return code;
  } catch (const Error& error) {
    std::cerr << "hum: error: " << error.what() << std::endl;
    spdlog::debug("thrown at {}", error.where());
    return exit_code(error.code());
  } catch (const std::exception& error) {
    std::cerr
        << "hum: error: " << error.what()
        << "\nhint: if the input is in order, this is a bug in hum; please report it with the "
           "command you ran"
        << std::endl;
    return exit_code(ExitCode::kFailure);
  }
}

}  // namespace
}  // namespace hum::cli

int main(int argc, char** argv) {
  hum::decode::enter_decoder(argc, argv);  // a child that decodes must do nothing else first
  hum::cli::hold_standard_streams();
  hum::end_process(hum::cli::run_or_report(argc, argv));
}
