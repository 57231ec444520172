// Where a program becomes its own decoder: the command that runs it again, and the start of main().
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/fields_json.h"
#include "decode/confined.h"
#include "decode/handover_impl.h"

namespace hum::decode {
namespace {

// Whether main() has called enter_decoder: a property of the process.
std::atomic<bool> has_entry = false;

std::string child_program(const std::filesystem::path& program) {
  constexpr const char* kThisProgram = "/proc/self/exe";
  std::error_code is_missing;  // starting it says so
  const bool is_this =
      program.empty() || std::filesystem::equivalent(program, kThisProgram, is_missing);
  if (is_this && !has_entry) {
    fail(ExitCode::kFailure,
         "decoding: this program would run itself again and again: its main() does not call "
         "enter_decoder",
         "call it first of all; in a test program, include decode/testing_entry.h");
  }
  return program.empty() ? kThisProgram : program.string();
}

// What the loader and sanitizers read.
std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> result;
  for (const char* name :
       {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) result[name] = value;
  }
  return result;
}

}  // namespace

ChildCommand decoder_command(const std::filesystem::path& program, DecodeOrder order) {
  order.parent = ::getpid();
  return {.words = {child_program(program), std::string(kConfinedDecode), to_text(to_json(order))},
          .environment = environment()};
}

void enter_decoder(int argc, char** argv) {
  has_entry = true;
  if (argc < 2 || argv[1] != kConfinedDecode) return;
  DecodeOrder order;
  try {
    HUM_REQUIRE(argc == 3, "one order");
    from_json(parse_json(argv[2]), order);
  } catch (const std::exception&) {
    std::fputs("hum: error: --confined-decode is for hum's own use\n", stderr);
    ::_exit(static_cast<int>(ExitCode::kUsage));
  }
  carry_out(order);
}

}  // namespace hum::decode
