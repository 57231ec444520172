// How well a stem is likely to be separated, estimated from the stems of the song alone.
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
  // -10 log10 of the share that other stems have in the stem's bins, weighted by its magnitudes.
  double purity_db = 0;
  double level_db = 0;  // the stem's energy, relative to that of all stems
};

// Collects the cues of a song's stems, block by block, from every other window of about 93 ms.
class StemCueMeter {
 public:
  StemCueMeter(size_t stems, int rate_hz, int channels);

  // Takes the interleaved samples of each stem, equally many of each.
  void push(const std::vector<std::vector<float>>& stems);
  // Absent if the stem is silent.
  std::optional<StemCues> cues(size_t stem) const;

 private:
  void hear_window(size_t first_sample);

  size_t channels_;
  std::vector<float> window_;
  audio::RealFft fft_;
  std::vector<std::vector<float>> waiting_;
  size_t skipped_ = 0;  // samples to leave out before the next window
  // Over all windows and bins, with a stem's magnitudes m and the sum M of all stems' magnitudes:
  // the sums of m^2 and of m M.
  std::vector<double> own_, shared_;
};

// A stem's expected SDR as a linear function of its cues, fitted to synthesized songs.
struct StemConfidence {
  double offset_db = 0, per_purity = 0, per_level = 0;
  double error_db = 0;  // root mean square, on other songs with the same fonts and drums
  // The cues that it was fitted to.
  double least_purity_db = 0, most_purity_db = 0, least_level_db = 0, most_level_db = 0;

  // Absent beyond the cues that it was fitted to: nothing is known of such stems.
  std::optional<double> sdr_db(const StemCues& cues) const;

  template <class V>
  void visit_fields(V& v) {
    v("offset_db", offset_db, "the SDR where both cues are 0");
    v("per_purity", per_purity, "dB of SDR per dB of purity");
    v("per_level", per_level, "dB of SDR per dB of level");
    v("error_db", error_db, "root mean square error on songs that it was not fitted to");
    v("least_purity_db", least_purity_db, "the smallest purity that it was fitted to");
    v("most_purity_db", most_purity_db, "the largest one");
    v("least_level_db", least_level_db, "the smallest level that it was fitted to");
    v("most_level_db", most_level_db, "the largest one");
  }
};

using StemConfidences = std::map<std::string, StemConfidence, std::less<>>;  // by stem

inline constexpr int kStemConfidenceVersion = 1;

// For vocals of this maker ("own" or "spleeter"), from the confidence.json beside the separator's
// weights: {"version": 1, "weights_sha256": of the weights it is for, "own": {STEM: line},
// "spleeter": {STEM: line}}. Empty if there is none; with a warning if it is damaged or of other
// weights, because songs can be separated without it.
StemConfidences read_confidence(const std::filesystem::path& separator, std::string_view vocals);

// {"sdr_db", "error_db"}; null where nothing is known.
Json confidence_json(const StemConfidence& confidence, const StemCues& cues);

}  // namespace hum::app
