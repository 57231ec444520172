// A recording for hum's models: mono at 22,050 Hz, checked, with warnings about its quality.
// decode/read.h reads one from a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "audio/io.h"

namespace hum::pipeline {

// The shortest recording that can hold a melody.
inline constexpr double kMinRecording_s = 0.25;

struct Recording {
  std::vector<float> samples;  // mono, 22,050 Hz
  double seconds = 0;
  std::vector<std::string> warnings;
};

// Throws kUsage unless it is above zero.
void validate_max_seconds(double max_seconds);

// `mono`: the sound; `source`: how it was in its file; `name`: for messages. Throws: kBadData when
// it is shorter than kMinRecording_s, silent or constant.
Recording checked_recording(audio::AudioBuffer mono, const audio::SourceFormat& source,
                            const std::string& name);

// Checks an output before any long work. Throws: kUsage when the extension is not one of
// `extensions` (".mid", ...), kCannotCreate when the file could not be written later.
void require_output(const std::filesystem::path& path,
                    std::initializer_list<std::string_view> extensions);

}  // namespace hum::pipeline
