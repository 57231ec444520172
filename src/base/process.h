// The process's standard streams, its memory, and its end.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace hum {

// The name that means stdin where a command reads a file, and stdout where it writes one.
inline constexpr std::string_view kStandardStream = "-";
inline bool is_standard_stream(const std::filesystem::path& path) {
  return path.native() == kStandardStream;
}

// Copies all of stdin to a file. Throws: kUsage if stdin is a terminal; kBadData beyond
// `most_bytes`; kFailure after a signal; kCannotCreate when the file cannot be written.
void copy_stdin(const std::filesystem::path& file, int64_t most_bytes);

// Writes all bytes and flushes them. `what` is what they are: "the stream". Throws kCannotCreate,
// which distinguishes a reader that is gone from a full disk.
void write_bytes(std::FILE* file, std::string_view bytes, std::string_view what);

// Sound and MIDI on a terminal help nobody. Throws kUsage, with this hint, if `file` is one.
void require_no_terminal(
    std::FILE* file, std::string_view what,
    const char* hint = "pipe it into a program (... | aplay) or send it to a file (... > out.wav)");

// Throws kCannotCreate, with the reason, if not all output reached stdout: it is closed, or the
// disk is full. A closed pipe (`| head`) counts as success.
void flush_output();

// For a process that mostly waits: gives freed memory back to the system within a second and uses
// no huge pages, which app/allocator.cpp wants for computing. Children inherit the latter until
// they call compute_with_memory(), which is safe between fork and exec.
void wait_with_little_memory();
void compute_with_memory();

// Flushes the standard streams and ends the process without running destructors of static objects:
// a plugin's threads live as long as the process and would use the destroyed objects. A program
// that opens a plugin calls this at the end of main.
[[noreturn]] void end_process(int exit_code);

}  // namespace hum
