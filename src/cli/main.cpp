// The program: turns errors into one line and an exit code.
#include <exception>
#include <iostream>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "cli/dispatch.h"
#include "cli/stop.h"

namespace hum::cli {
namespace {

int report(const Error& error) {
  const bool interrupted = stop_signal() != 0;
  std::cerr << "hum: error: " << error.what() << std::endl;
  spdlog::debug("thrown at {}", error.where());
  return interrupted ? 128 + stop_signal() : static_cast<int>(error.code());
}

// Every error becomes one line and an exit code.
int run_or_report(int argc, char** argv) {
  try {
    init_logging();
    install_stop_handler();
    return dispatch({argv + 1, argv + argc});
  } catch (const Error& error) {
    return report(error);
  } catch (const std::exception& error) {
    std::cerr << "hum: error: " << error.what() << std::endl;
    return static_cast<int>(ExitCode::kFailure);
  }
}

}  // namespace
}  // namespace hum::cli

int main(int argc, char** argv) { hum::end_process(hum::cli::run_or_report(argc, argv)); }
