// Runs the separator with its weights on songs of any length.
#pragma once

#include <filesystem>
#include <memory>

#include "models/segment_stream.h"
#include "models/separator/config.h"
#include "runtime/session.h"

namespace hum::models::separator {

// Thread-safe after construction. The session must outlive it, and it must outlive its streams.
class SeparatorSession {
 public:
  // Throws: kNoInput without weights, kBadData when they are damaged or another model's,
  // kConfig when their sizes do not fit.
  SeparatorSession(runtime::Session& session, const std::filesystem::path& weights);
  ~SeparatorSession();

  // Separates a song that comes block by block: stereo at 44,100 Hz to one sound per kStems. Masks,
  // then one Wiener step. Segments overlap by a fifth of their frames, over which one fades into
  // the next; the first begins in silence before the song. The stems add up to the song, except for
  // rounding.
  SegmentStream stream() const;

  // The same with the vocals given: its input has four channels, the song's and those of a sound of
  // the vocals, which counts below `vocals_below_hz`. Above, the vocals come from the masks. The
  // other stems share the rest in their own proportions.
  SegmentStream stream_with_vocals(double vocals_below_hz) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::separator
