// Changes that leave a sound's timbre to a listener: copies by the codec, and recordings in small
// rooms. A classifier that hears them in training judges the timbre and not the artefacts.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/training/token_data.h"

namespace hum::app {

class CropChanges {
 public:
  // Of the shares that the request's stage names. Opens the codec only if crops are copied.
  // Throws: what models::codec::CodecSession throws.
  explicit CropChanges(const InputRequest& request);

  bool has_copies() const { return codec_ != nullptr; }
  // Changes crops of the batch `draw`. Which ones, and how, depends on the seed and on their
  // position in the sequence of items. Shapes: audio f32[B, N], N whole frames of the codec.
  void apply(const Draw& draw, runtime::HostTensor& audio) const;

 private:
  void copy(const Draw& draw, runtime::HostTensor& audio) const;
  void record(const Draw& draw, runtime::HostTensor& audio) const;
  // The crops of a batch that are drawn for a change.
  std::vector<std::span<float>> drawn(const Draw& draw, const char* change, double share,
                                      runtime::HostTensor& audio) const;

  double copied_share_, recorded_share_;
  std::unique_ptr<const models::codec::CodecSession> codec_;
};

}  // namespace hum::app
