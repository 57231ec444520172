// The notes that the timbre references of training items play. A melody in another register says
// little about the target's notes, so some references play in the target's register, and some cover
// the instrument's whole range.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "audio/notes.h"
#include "base/fields.h"
#include "data/synthesis/presets.h"

namespace hum::data {

enum class ReferenceKind {
  kMelody,        // another melody, in any register
  kSameRegister,  // another melody, moved to the register of the target's
  kLowToHigh,     // single notes over the preset's range
};
inline EnumNames<ReferenceKind> enum_names(ReferenceKind) {
  static constexpr std::pair<ReferenceKind, std::string_view> kNames[] = {
      {ReferenceKind::kMelody, "melody"},
      {ReferenceKind::kSameRegister, "same_register"},
      {ReferenceKind::kLowToHigh, "low_to_high"}};
  return kNames;
}

// Shares of items; the others have melodies in any register, as all items of earlier releases.
struct ReferenceOptions {
  double same_register = 0.25;
  double low_to_high = 0.25;

  template <class V>
  void visit_fields(V& v) {
    v("same_register", same_register, "share with a melody in the register of the target's");
    v("low_to_high", low_to_high, "share with single notes over the instrument's range");
  }
};
// Throws: kConfig for shares below 0 or above 1 in total.
void validate(const ReferenceOptions& options);

// The kind of item `index`. A share of 0 turns a kind off without changing other items.
ReferenceKind draw_reference_kind(const ReferenceOptions& options, uint64_t seed, uint64_t index);

// Transposes `notes` so that their median pitch is that of `others`, as far as the preset's range
// allows.
std::vector<audio::Note> in_register_of(std::span<const audio::Note> others,
                                        std::span<const audio::Note> notes, const Preset& preset);

// 1 to 3 notes a second, from the lowest part of the preset's range to the highest, each with its
// own loudness.
std::vector<audio::Note> low_to_high(const Preset& preset, double seconds, uint64_t seed,
                                     uint64_t index);

}  // namespace hum::data
