// The models that split songs into stems, and who makes the vocals: hum's own separator, or
// Spleeter.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/separation/stem_confidence.h"
#include "base/fields.h"
#include "models/separator/separator_session.h"
#include "models/spleeter/separator.h"
#include "runtime/session.h"

namespace hum::app {

enum class Vocals {
  kAuto,  // Spleeter where its weights are, else own
  kOwn,
  kSpleeter,
};
inline EnumNames<Vocals> enum_names(Vocals) {
  static constexpr std::pair<Vocals, std::string_view> kNames[] = {
      {Vocals::kAuto, "auto"}, {Vocals::kOwn, "own"}, {Vocals::kSpleeter, "spleeter"}};
  return kNames;
}

// Separates stereo sound at 44,100 Hz, block by block.
class StemStream {
 public:
  using Sounds = models::SegmentStream::Sounds;

  virtual ~StemStream() = default;
  // Interleaved samples of each sound, those that are ready.
  virtual Sounds push(std::span<const float> samples) = 0;
  virtual Sounds finish() = 0;
};

struct StemModelOptions {
  std::string weights;  // empty: HUM_WEIGHTS, else weights/
  Vocals vocals = Vocals::kAuto;
  // Nothing but the vocals and the rest is wanted, for which Spleeter alone is enough.
  bool only_vocals = false;
  // The command that hints suggest to those who have Spleeter's weights alone.
  std::string vocals_command = "hum separate SONG --two-stems vocals --vocals spleeter";
  // Where Spleeter's weights are looked for.
  std::filesystem::path spleeter = models::spleeter::default_weights_path();
};

// Whether the files of the models are there.
struct InstalledStemModels {
  bool has_own = false, has_spleeter = false;

  bool operator==(const InstalledStemModels&) const = default;
};
// Looks at the weights and at `spleeter`, as StemModels does. Throws: what weights_folder throws.
InstalledStemModels installed_stem_models(const StemModelOptions& options);

class StemModels {
 public:
  // Throws: kNoInput when weights that the options need are missing, kBadData when they are
  // damaged.
  explicit StemModels(const StemModelOptions& options);

  // kOwn or kSpleeter.
  Vocals vocals() const { return spleeter_ ? Vocals::kSpleeter : Vocals::kOwn; }
  // Of the sounds of a stream: all six, or the vocals alone.
  const std::vector<std::string>& stems() const { return stems_; }
  // What read_confidence says of these stems. Reads the weights' file.
  StemConfidences confidences() const;
  // The models must outlive it. With Spleeter's vocals and our own separator, the vocals are
  // Spleeter's up to 11 kHz, and the other stems share the rest.
  std::unique_ptr<StemStream> stream() const;

 private:
  runtime::Session session_;
  std::unique_ptr<const models::separator::SeparatorSession> own_;
  std::unique_ptr<const models::spleeter::Separator> spleeter_;
  std::vector<std::string> stems_;
  std::filesystem::path own_weights_;
};

// Models for several threads: the first one that asks for them loads them.
class SharedStemModels {
 public:
  explicit SharedStemModels(StemModelOptions options) : options_(std::move(options)) {}

  const StemModelOptions& options() const { return options_; }
  // Loads them again when other models were installed since. Throws: what StemModels throws.
  std::shared_ptr<const StemModels> get();

 private:
  StemModelOptions options_;
  std::mutex mutex_;  // guards the rest
  InstalledStemModels installed_;
  std::shared_ptr<const StemModels> models_;
};

}  // namespace hum::app
