// Features of one recording: its windows of 6 s as notes, melody features and codec tokens
// (docs/formats/items.md, version 3). The models come in as functions.
//
// Stages: bytes -> sound -> samples whose tokens follow -> tokens, as batches of windows of several
// recordings fill up -> references, which are parts of the samples' own tokens.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/extraction/recording_table.h"
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

// Reads a whole file. Throws: what read_file throws; kBadData if it changes meanwhile, is too large
// or is no file (a device), or if the location is not an absolute path.
std::string read_recording_bytes(const std::string& location);

// At 22,050 Hz: one channel, or left and right; the mean of more channels than two. Throws: what
// audio::stream_audio throws, without the name of the file; kBadData for less than a quarter of a
// second.
std::vector<std::vector<float>> decode_channels(std::string_view bytes, double max_seconds);

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

struct RecordingSound {
  std::string sha256;                        // of the file
  std::vector<std::vector<float>> channels;  // one or two
  // A mono version to hear and to encode in place of the mean of the channels, and the SHA-256 of
  // its file. Empty: none.
  std::vector<float> reference;
  std::string reference_sha256;
  std::string licence;  // empty: unknown
};

struct RecordingFeatures {
  double seconds = 0;
  WindowCounts windows;
  std::deque<data::FeatureSample> samples;  // a deque, because they must not move
};

// All but the tokens, which `pool` adds. A reference is cut or padded to the length of the
// channels.
RecordingFeatures begin_features(const RecordingSound& sound, const FeatureTools& tools,
                                 CodePool& pool);
// The mean of one or two channels.
std::vector<float> mean_of(const std::vector<std::vector<float>>& channels);
// Adds the references, once the samples have their tokens: 1 to 5 s of another window of the
// recording, drawn by its hash; of the same window if it has only one.
void add_references(RecordingFeatures& features);

}  // namespace hum::app
