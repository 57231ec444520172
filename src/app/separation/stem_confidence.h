// How well a stem is likely to be separated, told from the stems of the song alone.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audio/dsp.h"
#include "base/json_fwd.h"

namespace hum::app {

// What the stems of a song tell of one of them, in dB.
struct StemCues {
  double purity_db = 0;  // how much of what is in the stem's bins it owns: 10 where it has 90 %
  double level_db = 0;   // the stem's energy, relative to that of all stems
};

// Collects the cues of a song's stems, block by block, from every other window of 93 ms.
class StemCueMeter {
 public:
  StemCueMeter(size_t stems, int rate_hz, int channels);

  // Takes the interleaved samples of each stem, equally many of each.
  void push(const std::vector<std::vector<float>>& stems);
  // Absent if the stem is silent.
  std::optional<StemCues> cues(size_t stem) const;

 private:
  void hear_window();

  size_t channels_;
  std::vector<float> window_;
  audio::RealFft fft_;
  std::vector<std::vector<float>> waiting_;
  // Over all windows and bins, with a stem's magnitudes m and the sum M of all stems' magnitudes:
  // the sums of m^2 and of m M.
  std::vector<double> own_, shared_;
};

// A stem's expected SDR as a line of its cues, fitted to songs whose stems are known.
struct StemConfidence {
  double offset_db = 0, per_purity = 0, per_level = 0;
  double error_db = 0;  // root mean square, on songs that it was not fitted to

  double sdr_db(const StemCues& cues) const;

  template <class V>
  void visit_fields(V& v) {
    v("offset_db", offset_db, "the SDR where both cues are 0");
    v("per_purity", per_purity, "dB of SDR per dB of purity");
    v("per_level", per_level, "dB of SDR per dB of level");
    v("error_db", error_db, "root mean square error on songs that it was not fitted to");
  }
};

using StemConfidences = std::map<std::string, StemConfidence, std::less<>>;  // by stem

// For vocals of this maker ("own" or "spleeter"), from the confidence.json beside the separator's
// weights; hum_bars stems-confidence makes it. Empty: there is none. Throws: kBadData and kConfig
// when the file is damaged.
StemConfidences read_confidence(const std::filesystem::path& separator, std::string_view vocals);

// {"sdr_db", "error_db"}
Json confidence_json(const StemConfidence& confidence, const StemCues& cues);

}  // namespace hum::app
