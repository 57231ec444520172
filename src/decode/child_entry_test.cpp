#include "decode/child_entry_test.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>
#include <vector>

#include "base/testing/refusal.h"
#include "decode/confined.h"
#include "decode/memory_file.h"
#include "decode/sandbox.h"
#include "decode/stream.h"

namespace hum::decode {
namespace {

namespace fs = std::filesystem;

constexpr char kMisdeed[] = "--misdeed";
constexpr int64_t kMemoryBytes = int64_t{64} << 20;
constexpr int64_t kFileBytes = 1000;

int verdict(int64_t result) {
  if (result >= 0) return kWentThrough;
  return errno == EPERM || errno == EACCES ? kRefused : EXIT_FAILURE;
}

int burn_processor_time() {
  volatile bool goes_on = true;
  while (goes_on) {
  }
  return EXIT_FAILURE;
}

int take_memory(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? kRefused : kWentThrough;
}

int start_thread() {
  int result = EXIT_FAILURE;
  std::thread([&] { result = kWentThrough; }).join();
  return result;
}

int write_to_result(size_t bytes) {
  const std::vector<char> data(bytes);
  return verdict(::write(3, data.data(), data.size()));
}

// Before main() has called enter_decoder.
int decode_without_entry(const fs::path& program) {
  const std::string message = testing::message_of([&] { Decoders({.program = program}); });
  return message.find("does not call enter_decoder") == message.npos ? kWentThrough : kRefused;
}

int descriptors() {
  int count = 0;
  for (int number = 0; number < 1000; ++number) count += ::fcntl(number, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

using Deed = int (*)();
const std::map<std::string, Deed>& deeds() {
  static const std::map<std::string, Deed> kDeeds = {
      {"nothing", [] { return kWentThrough; }},
      {"open", [] { return verdict(::open("/etc/passwd", O_RDONLY)); }},
      {"open system file", [] { return verdict(::open("/usr/bin/env", O_RDONLY)); }},
      {"open other file", [] { return verdict(::open("/proc/self/status", O_RDONLY)); }},
      {"create", [] { return verdict(::open("/tmp/hum-misdeed", O_WRONLY | O_CREAT, 0600)); }},
      {"create by reading", [] { return verdict(::open("/tmp/hum-misdeed", O_CREAT, 0600)); }},
      {"remove", [] { return verdict(::unlink("/tmp/hum-misdeed")); }},
      {"socket", [] { return verdict(::socket(AF_INET, SOCK_STREAM, 0)); }},
      {"local socket", [] { return verdict(::socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"fork", [] { return verdict(::fork()); }},
      {"thread", start_thread},
      {"run", [] { return verdict(::execl("/bin/true", "true", nullptr)); }},
      {"trace", [] { return verdict(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }},
      {"kill parent", [] { return verdict(::kill(::getppid(), 0)); }},
      {"map code",
       [] {
         void* code =
             ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         return verdict(code == MAP_FAILED ? -1 : 0);
       }},
      {"spin", burn_processor_time},
      {"abort",
       [] {
         std::abort();
         return 0;
       }},
      {"crash",
       [] {
         ::raise(SIGSEGV);
         return 0;
       }},
      {"some memory", [] { return take_memory(kMemoryBytes / 2); }},
      {"much memory", [] { return take_memory(kMemoryBytes * 2); }},
      {"short file", [] { return write_to_result(kFileBytes); }},
      {"long file", [] { return write_to_result(kFileBytes + 1) + write_to_result(1); }},
      {"descriptors", [] { return descriptors(); }},
      {"decode without entry", [] { return decode_without_entry(""); }},
      {"decode without entry, by path",
       [] { return decode_without_entry(fs::read_symlink("/proc/self/exe")); }},
      {"wait",
       [] {
         ::alarm(30);
         ::pause();
         return EXIT_FAILURE;
       }},
      {"wait for a child",
       [] { return try_misdeed("limits", "wait", 3, std::chrono::minutes(1)).exit_code; }},
  };
  return kDeeds;
}

// The arguments of main(), up to a null. A sandbox may hide /proc/self/cmdline.
char** argument_texts = nullptr;
__attribute__((constructor)) void remember_arguments(int /*count*/, char** texts) {
  argument_texts = texts;
}

[[noreturn]] void misbehave(const std::string& sandbox, const std::string& name) {
  const Deed deed = deeds().at(name);
  if (sandbox != "none") limit_resources(1, kFileBytes);
  if (sandbox == "decoder") {
    limit_memory(kMemoryBytes);
    allow_decoding_only();
  } else if (sandbox == "program") {
    become_program(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), {"test", kMisdeed, "none", name},
                   kMemoryBytes);
  }
  ::_exit(deed());
}

// Takes over before the first test, after all static objects are there.
class ChildEntry : public ::testing::Environment {
 public:
  void SetUp() override {
    std::vector<std::string> arguments;
    for (char** text = argument_texts; *text != nullptr; ++text) arguments.emplace_back(*text);
    if (arguments.size() == 4 && arguments[1] == kMisdeed) misbehave(arguments[2], arguments[3]);
    enter_decoder(static_cast<int>(arguments.size()), argument_texts);
  }
};
const auto* const kChildEntry = ::testing::AddGlobalTestEnvironment(new ChildEntry);

}  // namespace

ProcessEnd try_misdeed(const std::string& sandbox, const std::string& misdeed, int result,
                       std::chrono::milliseconds limit) {
  const OpenFile nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::vector<int> files = {nothing.descriptor(), nothing.descriptor(), nothing.descriptor(),
                                  result};
  return ChildProcess({{"/proc/self/exe", kMisdeed, sandbox, misdeed}}, files).end(limit);
}

ProcessEnd try_misdeed(const std::string& sandbox, const std::string& misdeed) {
  const OpenFile result = new_memory_file();
  return try_misdeed(sandbox, misdeed, result.descriptor(), std::chrono::minutes(1));
}

}  // namespace hum::decode
