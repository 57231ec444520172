// Concrete judges, and the recording that several bars share.
#pragma once

#include <string>
#include <vector>

#include "eval/harness/functions.h"
#include "runtime/session.h"

namespace hum::bench {

// Basic Pitch with basic-pitch's settings. The session must outlive it.
eval::Transcriber transcriber(runtime::Session& session);

// FluidSynth with the sound font of training, dry.
eval::Renderer renderer();

std::filesystem::path example_recording();

// As every command reads it: mono at 22,050 Hz.
std::vector<float> read_example();

// Writes a wav of `seconds` at the example's rate that repeats the example.
void write_example(const std::string& path, double seconds);

}  // namespace hum::bench
