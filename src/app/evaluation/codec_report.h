// The report of `hum evaluate codec`: how well the codec copies the targets of training items, and
// how far its latents move when the sound changes in ways that nobody hears.
#pragma once

#include <string>

#include "base/fields.h"
#include "base/json.h"

namespace hum::app {

struct CodecReportOptions {
  std::string weights;
  std::string data = "runs/data";
  int64_t items = 48;

  template <class V>
  void visit_fields(V& v) {
    v("weights", weights, "folder of weights with the codec (default: HUM_WEIGHTS, else weights/)");
    v("data", data, "folder of items to judge it on (hum data make)");
    v("items", items, "number of items: the first ones of the folder");
  }
};

// {"items",
//  "mel_distance": {"all", "sound"} of the plain decoder on all books and, of a split codec, on the
//    sound's books alone,
//  "movement": [{"part", "of", "polarity", "shift_1_ms", "shift_2_5_ms", "shift_5_ms"}],
//  "codebooks": [{"book", "entropy_bits", "used"}]}
// A movement is the mean absolute difference to the latents of the unchanged sound, relative to
// their mean absolute deviation from the mean over all items. "part": all or, of a split codec,
// sound and phase; "of": latents (before the quantizer) or tokens (the vectors that they code). It
// leaves out half a second at both ends of an item, because the edge cuts off shifted sound.
// Throws: kUsage when `items` is out of range, what data::ItemFolder and CodecSession throw,
// kFailure after a stop signal.
Json codec_report(const CodecReportOptions& options);
std::string codec_text(const Json& report);

}  // namespace hum::app
