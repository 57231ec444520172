// Writes one stem, block by block, to a file that appears when it is complete. Its level may be
// lowered at the end, when the peaks of all stems are known.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "app/separation/sample_spool.h"
#include "audio/sound_blocks.h"
#include "base/fields.h"

namespace hum::app {

// What happens to samples beyond full scale in files that cannot hold them.
enum class ClipMode {
  kRescale,  // all stems of the song become softer by one gain, so that they still add up
  kClamp,    // they become full scale, also in float files
  kNone,     // nothing: integers end at full scale
};
inline EnumNames<ClipMode> enum_names(ClipMode) {
  static constexpr std::pair<ClipMode, std::string_view> kNames[] = {
      {ClipMode::kRescale, "rescale"}, {ClipMode::kClamp, "clamp"}, {ClipMode::kNone, "none"}};
  return kNames;
}

struct StemFormat {
  int rate_hz = 0, channels = 0;
  audio::SampleFormat samples = audio::SampleFormat::k16;
  ClipMode clip = ClipMode::kRescale;
};

class StemFile {
 public:
  // "-": stdout. Throws: what audio::SoundWriter throws.
  StemFile(const std::filesystem::path& path, const StemFormat& format);
  ~StemFile();
  StemFile(StemFile&&) noexcept;

  const std::filesystem::path& path() const { return path_; }
  // Throws: kCannotCreate when the disk is full.
  void write(std::span<const float> samples);
  // Of what is in the file, after finish(): with its gain and limits, but before the rounding of
  // integers and the losses of mp3. -infinity for silence.
  double level_dbfs() const;
  // Of what write() was given.
  float peak() const { return peak_; }
  // Whether finish() can lower the level: rescaling, and not to float.
  bool can_rescale() const {
    return format_.clip == ClipMode::kRescale && format_.samples != audio::SampleFormat::kFloat;
  }

  // Whether samples beyond full scale were cut off.
  bool is_limited() const { return limits_ && !can_rescale() && peak_ > 1; }

  // Writes what waits for its level, times `gain`, and closes the file. Then commit() makes it
  // appear. `progress` gets the samples that were written so far; it may throw to stop. Throws:
  // what write() throws.
  void finish(float gain, const std::function<void(int64_t samples)>& progress = {});
  void commit();

 private:
  class Target;

  void write_spool(float gain, const std::function<void(int64_t samples)>& progress);
  // To the file, limited where it is.
  void put(std::span<const float> samples);

  std::filesystem::path path_;
  StemFormat format_;
  float peak_ = 0;
  double energy_ = 0;
  int64_t samples_ = 0;
  bool limits_;  // samples beyond full scale become full scale
  std::unique_ptr<Target> target_;
  std::unique_ptr<SampleSpool> spool_;
};

}  // namespace hum::app
