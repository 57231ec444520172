#include "bench/run_main.h"

#include <iostream>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"

namespace hum::bench {
namespace {

int run_or_report(std::string_view name, std::span<char* const> arguments,
                  const std::function<int(std::span<char* const>)>& run) {
  try {
    init_logging();
    return run(arguments);
  } catch (const Error& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}

}  // namespace

void run_main(std::string_view name, int argc, char** argv,
              const std::function<int(std::span<char* const>)>& run) {
  end_process(run_or_report(name, {argv + 1, argv + argc}, run));
}

}  // namespace hum::bench
