// Features of a recording, part by part: its windows of 6 s as notes, melody features and codec
// tokens (docs/formats/items.md, version 3). The models come in as functions.
//
// Stages: sound (recording_parts.h) -> samples whose tokens follow -> tokens, as batches of windows
// of several recordings fill up -> references, which are parts of the samples' own tokens.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "app/extraction/recording_parts.h"
#include "data/shards/item_codes.h"
#include "data/shards/item_sample.h"
#include "pipeline/hearing.h"

namespace hum::app {

struct FeatureTools {
  pipeline::TranscribeFunction transcribe;
  std::string heard_by;  // names it
  data::TokenEncoder encoder;
  bool keep_audio = false;  // samples hold the sound itself, too
};

// Encodes windows as they come, kEncodedTogether at a time, whatever recordings they are of. The
// codes of a window do not depend on the others of its batch.
class CodePool {
 public:
  static constexpr int64_t kEncodedTogether = 8;

  // `encoder` must outlive it.
  explicit CodePool(const data::TokenEncoder& encoder) : encoder_(encoder) {}
  // All of `places` get the codes, [kItemFrames, K], at the latest in flush(); until then they must
  // not move. Shapes: window [kItemSamples].
  void add(std::span<const float> window, std::vector<std::vector<uint16_t>*> places);
  void flush();

 private:
  const data::TokenEncoder& encoder_;
  std::vector<float> windows_;
  std::vector<std::vector<std::vector<uint16_t>*>> places_;  // of each window
};

// Of a part of a recording.
struct RecordingFeatures {
  double seconds = 0;  // without what the part shares with its neighbours
  WindowCounts windows;
  std::deque<data::FeatureSample> samples;  // a deque, because they must not move
};

// All but the tokens, which `pool` adds.
RecordingFeatures begin_features(const RecordingSound& sound, const FeatureTools& tools,
                                 CodePool& pool);
// Adds the references, once the samples have their tokens: 1 to 5 s of another window of the
// part, drawn by the recording's hash; of the same window if it has only one.
void add_references(RecordingFeatures& features);

}  // namespace hum::app
