#include "models/codec/token_file.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "audio/notes_json.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/safetensors.h"
#include "models/codec/config.h"

namespace hum::models::codec {
namespace {

constexpr const char* kFormat = "hum-codec-tokens";
constexpr const char* kVersion = "1";

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  fail(ExitCode::kBadData, fmt::format("{}: not a file of codec tokens: {}", path.string(), why),
       "make one: hum codec encode hum.wav -o tokens.safetensors");
}

int64_t parse_count(const std::filesystem::path& path, const std::string& text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    refuse(path, "'" + text + "' is not a count of samples");
  }
  return value;
}

bool is_sound(const audio::Note& note) {
  return std::isfinite(note.start_s) && std::isfinite(note.end_s) && note.start_s >= 0 &&
         note.end_s > note.start_s && note.pitch >= 0 && note.pitch <= 127 && note.amplitude >= 0 &&
         note.amplitude <= 1;
}

std::vector<audio::Note> parse_notes(const std::filesystem::path& path, const std::string& text) {
  std::vector<audio::Note> notes;
  try {
    for (const Json& item : parse_json(text)) notes.push_back(audio::note_from_json(item));
  } catch (const Json::exception& error) {
    refuse(path, fmt::format("the notes in the metadata: {}", error.what()));
  }
  for (const auto& note : notes) {
    if (!is_sound(note)) refuse(path, "a note in the metadata is out of range");
  }
  return notes;
}

// The header of safetensors is JSON, after 8 bytes of its size. Sounds begin otherwise.
SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  if (bytes.size() < 9 || bytes[8] != '{') refuse(path, "it is not a safetensors file");
  return SafetensorsFile::parse(path, std::move(bytes));
}

}  // namespace

TokenFile read_token_file(const std::filesystem::path& path) {
  const auto file = read_safetensors(path);
  const auto& metadata = file.metadata();
  auto value = [&](const char* key) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) refuse(path, fmt::format("the metadata has no '{}'", key));
    return found->second;
  };
  if (value("hum_format") != kFormat) refuse(path, "the metadata names another format");
  if (value("version") != kVersion) refuse(path, "unknown version " + value("version"));
  TokenFile result;
  result.samples = parse_count(path, value("samples"));
  result.fingerprint = value("codec_sha256");
  if (metadata.contains("notes")) result.notes = parse_notes(path, value("notes"));
  if (file.tensors().size() != 1 || file.tensors()[0].name != "codes") {
    refuse(path, "it must hold one tensor, 'codes'");
  }
  const SafeTensor& codes = file.tensors()[0];
  if (codes.dtype != "U16" || codes.dims.size() != 2 || codes.dims[1] < 1) {
    refuse(path, "'codes' must be U16 [frames, books]");
  }
  result.books = codes.dims[1];
  std::vector<uint16_t> values(codes.bytes.size() / sizeof(uint16_t));
  std::memcpy(values.data(), codes.bytes.data(), codes.bytes.size());
  result.codes.assign(values.begin(), values.end());
  if (result.samples > result.frames() * kHopSamples) {
    refuse(path, fmt::format("{} samples do not fit {} frames", result.samples, result.frames()));
  }
  return result;
}

void write_token_file(const std::filesystem::path& path, const TokenFile& tokens) {
  HUM_REQUIRE(tokens.books > 0 && static_cast<int64_t>(tokens.codes.size()) % tokens.books == 0,
              "write_token_file: {} codes in {} books", tokens.codes.size(), tokens.books);
  const std::vector<uint16_t> values(tokens.codes.begin(), tokens.codes.end());
  const SafeTensor codes{.name = "codes",
                         .dtype = "U16",
                         .dims = {tokens.frames(), tokens.books},
                         .bytes = std::as_bytes(std::span(values))};
  std::map<std::string, std::string> metadata = {
      {"hum_format", kFormat},
      {"version", kVersion},
      {"sample_rate_hz", std::to_string(kSampleRateHz)},
      {"frames_per_second", std::to_string(kFramesPerSecond)},
      {"samples", std::to_string(tokens.samples)},
      {"codec_sha256", tokens.fingerprint}};
  if (!tokens.notes.empty()) metadata["notes"] = to_text(audio::to_json(tokens.notes));
  write_safetensors(path, std::span(&codes, 1), metadata);
}

}  // namespace hum::models::codec
