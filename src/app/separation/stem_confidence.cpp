#include "app/separation/stem_confidence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <exception>

#include "base/error.h"
#include "base/fields_json.h"
#include "base/json.h"
#include "base/log.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

constexpr const char* kFile = "confidence.json";
constexpr double kWindow_s = 4096.0 / 44100;
constexpr double kLeastShared = 1e-4;  // of a stem's energy: 40 dB of purity are the most

// A power of two near kWindow_s.
int window_samples(int rate_hz) {
  const auto wanted = static_cast<unsigned>(std::lround(kWindow_s * rate_hz * std::sqrt(2.0)));
  return static_cast<int>(std::max(std::bit_floor(wanted), 4U));
}

// Throws: kBadData, kConfig.
StemConfidences lines_of(const std::filesystem::path& path, std::string_view vocals) {
  const Json file = read_json(path);
  if (file.value("version", 0) != kStemConfidenceVersion ||
      file.value("weights_sha256", "") != runtime::shards_sha256(path.parent_path())) {
    fail(ExitCode::kBadData,
         path.string() + ": is of another version, or belongs to other weights");
  }
  StemConfidences by_stem;
  const auto found = file.find(std::string(vocals));
  if (found == file.end()) return {};
  const ErrorContext context([&] { return "reading " + path.string(); });
  for (const auto& [stem, line] : found->items()) from_json(line, by_stem[stem]);
  return by_stem;
}

}  // namespace

StemCueMeter::StemCueMeter(size_t stems, int rate_hz, int channels)
    : channels_(static_cast<size_t>(channels)),
      window_(audio::hann_window(window_samples(rate_hz))),
      fft_(static_cast<int>(window_.size())),
      waiting_(stems),
      own_(stems),
      shared_(stems) {}

void StemCueMeter::push(const std::vector<std::vector<float>>& stems) {
  HUM_REQUIRE(stems.size() == waiting_.size(), "{} of {} stems", stems.size(), waiting_.size());
  for (size_t i = 0; i < stems.size(); ++i) {
    waiting_[i].insert(waiting_[i].end(), stems[i].begin(), stems[i].end());
  }
  const size_t window = window_.size() * channels_;
  size_t at = skipped_;
  for (; at + window <= waiting_[0].size(); at += 2 * window) hear_window(at);
  const size_t heard = std::min(at, waiting_[0].size());
  skipped_ = at - heard;
  for (auto& samples : waiting_) {
    samples.erase(samples.begin(), samples.begin() + static_cast<int64_t>(heard));
  }
}

void StemCueMeter::hear_window(size_t first_sample) {
  const auto bins = static_cast<size_t>(fft_.bins());
  std::vector<float> frame(window_.size());
  std::vector<std::complex<float>> spectrum(bins);
  std::vector<std::vector<float>> magnitudes(waiting_.size(), std::vector<float>(bins));
  std::vector<float> all(bins);
  for (size_t stem = 0; stem < waiting_.size(); ++stem) {
    std::vector<float>& of_stem = magnitudes[stem];  // powers, then magnitudes
    for (size_t channel = 0; channel < channels_; ++channel) {
      for (size_t i = 0; i < frame.size(); ++i) {
        frame[i] = window_[i] * waiting_[stem][first_sample + i * channels_ + channel];
      }
      fft_.forward(frame, spectrum);
      for (size_t f = 0; f < bins; ++f) of_stem[f] += std::norm(spectrum[f]);
    }
    for (size_t f = 0; f < bins; ++f) {
      own_[stem] += of_stem[f];
      of_stem[f] = std::sqrt(of_stem[f]);
      all[f] += of_stem[f];
    }
  }
  for (size_t stem = 0; stem < waiting_.size(); ++stem) {
    for (size_t f = 0; f < bins; ++f) shared_[stem] += magnitudes[stem][f] * all[f];
  }
}

std::optional<StemCues> StemCueMeter::cues(size_t stem) const {
  double total = 0;
  for (const double energy : own_) total += energy;
  if (!(own_[stem] > 0)) return std::nullopt;
  const double others = std::max(1 - own_[stem] / shared_[stem], kLeastShared);
  return StemCues{-10 * std::log10(others), 10 * std::log10(own_[stem] / total)};
}

std::optional<double> StemConfidence::sdr_db(const StemCues& cues) const {
  if (cues.purity_db < least_purity_db || cues.purity_db > most_purity_db ||
      cues.level_db < least_level_db || cues.level_db > most_level_db) {
    return std::nullopt;
  }
  return offset_db + per_purity * cues.purity_db + per_level * cues.level_db;
}

StemConfidences read_confidence(const std::filesystem::path& separator, std::string_view vocals) {
  const auto path = separator / kFile;
  if (!std::filesystem::exists(path)) return {};
  try {
    return lines_of(path, vocals);
  } catch (const std::exception& error) {
    spdlog::warn("{}; stems get no confidence", error.what());
    return {};
  }
}

Json confidence_json(const StemConfidence& confidence, const StemCues& cues) {
  const auto sdr_db = confidence.sdr_db(cues);
  if (!sdr_db) return {};
  return {{"sdr_db", *sdr_db}, {"error_db", confidence.error_db}};
}

}  // namespace hum::app
