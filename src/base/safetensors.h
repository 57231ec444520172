// Reads and writes safetensors files: named arrays behind a JSON header. Bytes only; element types
// use the format's names. Source: huggingface/safetensors, format 0.x: u64 little-endian header
// size, JSON header, data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hum {

struct SafeTensor {
  std::string name;
  // "F32", "BF16", "I32", "U8", ...
  std::string dtype;
  std::vector<int64_t> dims;
  // Row-major, little-endian. Not owned.
  std::span<const std::byte> bytes;
};

class SafetensorsFile {
 public:
  // Reads the whole file. Throws: kNoInput, kBadData if the header, an offset or a size is wrong.
  static SafetensorsFile read(const std::filesystem::path& path);
  // The same of the bytes of a file. `path`: for messages.
  static SafetensorsFile parse(const std::filesystem::path& path, std::string bytes);

  const std::vector<SafeTensor>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // Of the whole file.
  std::string sha256() const;

 private:
  std::string bytes_;
  std::vector<SafeTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Writes a temporary file, then renames it. Adds {"format": "pt"} to the metadata, as other readers
// expect.
void write_safetensors(const std::filesystem::path& path, std::span<const SafeTensor> tensors,
                       std::map<std::string, std::string> metadata = {});

}  // namespace hum
