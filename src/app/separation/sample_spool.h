// Samples on disk, in a file without a name: whatever ends the process leaves nothing behind.
#pragma once

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace hum::app {

class SampleSpool {
 public:
  // On the disk of `output`, the file that the samples are for; of temporary files if it is "-".
  // `hint`: what to do when the disk is full. Throws: kCannotCreate.
  SampleSpool(const std::filesystem::path& output, int channels, std::string hint);
  ~SampleSpool();
  SampleSpool(const SampleSpool&) = delete;
  SampleSpool& operator=(const SampleSpool&) = delete;

  // Interleaved, whole frames. Throws: kCannotCreate when the disk is full.
  void write(std::span<const float> samples);
  // Ends the writing; read() starts over.
  void rewind();
  // The next block, valid until the next call; none at the end.
  std::span<float> read();

 private:
  [[noreturn]] void refuse() const;

  std::filesystem::path folder_;
  std::string hint_;
  std::FILE* file_ = nullptr;
  std::vector<float> block_;
};

}  // namespace hum::app
