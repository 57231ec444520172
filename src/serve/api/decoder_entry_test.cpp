// The test program is also the child that decodes recordings.
#include "decode/testing.h"

namespace hum::serve {
namespace {

const auto* const kEntry = ::testing::AddGlobalTestEnvironment(new decode::DecoderEntry);

}  // namespace
}  // namespace hum::serve
