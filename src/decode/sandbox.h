// What a decoding process may do. Every function concerns the calling process, and none can be
// undone. Throws kUnavailable where the kernel lacks what is needed: nothing runs unconfined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/sanitizers.h"

namespace hum::decode {

// No core dumps (they would hold a user's sound), at most this processor time (SIGXCPU) and file
// size (SIGXFSZ). The process dies with its parent.
void limit_resources(int64_t processor_s, int64_t file_bytes);

// The memory that the process may map from now on, besides what it has mapped. Without effect in a
// build with a sanitizer, whose shadow memory takes terabytes.
void limit_memory(int64_t bytes);
// The same for memory that can be written: files that it maps to read them do not count.
void limit_written_memory(int64_t bytes);

// For a decoder inside this process: memory, and its open files. The kernel ends the process
// (SIGSYS) at any other system call: it can open no file, no socket and no process, and map no
// code. `socket`: one on which it may receive files; -1: none.
void allow_decoding_only(int socket = -1);

// If the kernel can keep a program to the files of the system.
bool has_landlock();

// Becomes the program that the descriptor `program` is opened on. It may read the files of the
// system (where the kernel has Landlock; otherwise whatever its user may), start threads and map
// this much memory besides a GiB for its libraries. Other system calls fail there: it can write no
// file, open no socket, start no process and run no other program.
[[noreturn]] void become_program(int program, const std::vector<std::string>& arguments,
                                 int64_t memory_bytes);

}  // namespace hum::decode
