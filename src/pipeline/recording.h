// A recording as every model of hum wants it: mono at 22,050 Hz, checked, with what is odd about it
// put into words.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "audio/io.h"

namespace hum::pipeline {

// Shorter recordings hold no melody.
inline constexpr double kMinRecording_s = 0.25;

struct Recording {
  std::vector<float> samples;  // mono, 22,050 Hz
  double seconds = 0;
  std::vector<std::string> warnings;
};

// Throws: as audio::read_audio, and kBadData when it is shorter than kMinRecording_s or silent.
Recording read_recording(const std::filesystem::path& path,
                         double max_seconds = audio::kDefaultMaxSeconds);

// Throws, before any long work: kUsage when the extension is none of `extensions` (".mid", ...),
// kCannotCreate when the file could not be written later.
void require_output(const std::filesystem::path& path,
                    std::initializer_list<std::string_view> extensions);

}  // namespace hum::pipeline
