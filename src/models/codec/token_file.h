// Stores codec tokens in a file: one safetensors tensor and the metadata to decode it. For the
// format see docs/formats/codec-tokens.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "audio/notes.h"

namespace hum::models::codec {

struct TokenFile {
  std::vector<int32_t> codes;  // [frames, books]
  int64_t books = 0;
  int64_t samples = 0;                  // of the sound that was coded, at 22,050 Hz
  std::string fingerprint;              // CodecSession::fingerprint() of the codec that made them
  std::vector<audio::Note> notes = {};  // in the sound; empty: unknown

  int64_t frames() const { return books == 0 ? 0 : static_cast<int64_t>(codes.size()) / books; }
};

// Throws: kNoInput, kBadData when it is damaged or not a token file.
TokenFile read_token_file(const std::filesystem::path& path);
// Writes a temporary file and renames it. Throws: kCannotCreate.
void write_token_file(const std::filesystem::path& path, const TokenFile& tokens);

}  // namespace hum::models::codec
