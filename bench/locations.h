// Absolute paths of what the bars run. Compiled into one source, so that no other source differs
// between two clones and the compiler cache serves both.
#pragma once

namespace hum::bench {

extern const char* const kBuildFolder;
extern const char* const kHumProgram;
extern const char* const kLmProgram;         // bench/lm
extern const char* const kCodecStepProgram;  // bench/codec_step
extern const char* const kPeerScripts;       // bench/peers
extern const char* const kJemallocLibrary;   // peers run with it preloaded

}  // namespace hum::bench
