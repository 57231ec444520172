#include "bench/locations.h"

namespace hum::bench {

const char* const kBuildFolder = HUM_BUILD_FOLDER;
const char* const kHumProgram = HUM_PROGRAM;
const char* const kLmProgram = HUM_LM;
const char* const kCodecStepProgram = HUM_CODEC_STEP;
const char* const kPeerScripts = HUM_PEER_SCRIPTS;
const char* const kJemallocLibrary = HUM_JEMALLOC;

}  // namespace hum::bench
