#include "pipeline/sound_quality/other_tones.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pipeline/sound_quality/spectra.h"

namespace hum::pipeline {
namespace {

// 186 ms: harmonics of a low voice are separate.
constexpr int kWindow = 4096, kHop = 2048;
// Knocks, steps and mains hum lie below.
constexpr double kLowest_hz = 140, kHighest_hz = 3000;
constexpr double kHarmonics = 8.5;  // searched up to here
// A window lies within its note: from so long after its start to so long before its end.
constexpr double kAfterStart_s = 0.08, kBeforeEnd_s = 0.06;
constexpr double kQuiet_db = -20;  // against the loudest windows
// The bins of a harmonic: its main lobe, and what its pitch moves.
constexpr double kLobe_bins = 3, kMoves = 0.025;
// A tone stands out of the bins around it.
constexpr int64_t kAround_bins = 14;
constexpr float kStandsOut = 20;
// Of the power of the window.
constexpr double kOtherShare = 0.1;
constexpr int64_t kFewestWindows = 10;
constexpr double kLoudShare = 0.9;

struct Window {
  double power = 0;   // of all bins that are searched
  double others = 0;  // of the tones that are no harmonics
};

float peak_around(std::span<const float> row, int64_t bin) {
  return std::max({row[static_cast<size_t>(bin - 1)], row[static_cast<size_t>(bin)],
                   row[static_cast<size_t>(bin + 1)]});
}

// The fundamental near `hz` whose harmonics are the loudest.
double refined(std::span<const float> row, double hz, double hz_per_bin) {
  constexpr int kReach_cents = 70, kStep_cents = 10, kCount = 6;
  double best = hz, most = -1;
  for (int cents = -kReach_cents; cents <= kReach_cents; cents += kStep_cents) {
    const double candidate = hz * std::exp2(cents / 1200.0);
    double sum = 0;
    for (int harmonic = 1; harmonic <= kCount; ++harmonic) {
      const auto bin = std::llround(harmonic * candidate / hz_per_bin);
      if (bin < 1 || bin + 1 >= std::ssize(row)) break;
      sum += std::sqrt(peak_around(row, bin));
    }
    if (sum > most) {
      most = sum;
      best = candidate;
    }
  }
  return best;
}

bool is_harmonic(double hz, double fundamental, double hz_per_bin) {
  const double number = std::round(hz / fundamental);
  const double reach = kLobe_bins * hz_per_bin + kMoves * number * fundamental;
  return std::abs(hz - number * fundamental) <= reach;
}

bool stands_out(std::span<const float> row, int64_t bin) {
  const float power = row[static_cast<size_t>(bin)];
  if (power <= row[static_cast<size_t>(bin - 1)] || power < row[static_cast<size_t>(bin + 1)]) {
    return false;
  }
  std::vector<float> around(row.begin() + std::max<int64_t>(0, bin - kAround_bins),
                            row.begin() + std::min(std::ssize(row), bin + kAround_bins + 1));
  const auto middle = around.begin() + std::ssize(around) / 2;
  std::ranges::nth_element(around, middle);
  return power > kStandsOut * *middle;
}

Window window_of(std::span<const float> row, double note_hz, double hz_per_bin) {
  const double fundamental = refined(row, note_hz, hz_per_bin);
  const double highest = std::min(kHighest_hz, kHarmonics * fundamental);
  const auto first = static_cast<int64_t>(std::ceil(kLowest_hz / hz_per_bin));
  const auto end =
      std::min(static_cast<int64_t>(std::ceil(highest / hz_per_bin)), std::ssize(row) - 1);
  Window window;
  for (int64_t bin = first; bin < end; ++bin) {
    window.power += row[static_cast<size_t>(bin)];
    if (is_harmonic(static_cast<double>(bin) * hz_per_bin, fundamental, hz_per_bin)) continue;
    if (!stands_out(row, bin)) continue;
    window.others += static_cast<double>(row[static_cast<size_t>(bin - 1)]) +
                     row[static_cast<size_t>(bin)] + row[static_cast<size_t>(bin + 1)];
  }
  return window;
}

std::vector<Window> windows_of(const Spectra& spectra, std::span<const audio::Note> notes) {
  std::vector<Window> windows;
  int64_t at = 0;
  for (const audio::Note& note : notes) {
    while (at < spectra.windows() && spectra.centre_s(at) < note.start_s + kAfterStart_s) ++at;
    for (; at < spectra.windows() && spectra.centre_s(at) <= note.end_s - kBeforeEnd_s; ++at) {
      windows.push_back(window_of(spectra.power.row(at), note.hz, spectra.hz_per_bin()));
    }
  }
  return windows;
}

void drop_quiet(std::vector<Window>& windows) {
  std::vector<double> powers;
  for (const Window& window : windows) powers.push_back(window.power);
  if (powers.empty()) return;
  const auto loud = powers.begin() + static_cast<int64_t>(kLoudShare * std::ssize(powers));
  std::ranges::nth_element(powers, loud);
  const double least = *loud * std::pow(10, kQuiet_db / 10);
  std::erase_if(windows, [&](const Window& window) { return window.power < least; });
}

}  // namespace

std::optional<double> other_tones(std::span<const float> samples,
                                  std::span<const audio::Note> notes) {
  auto windows = windows_of(spectra_of(samples, kWindow, kHop), notes);
  drop_quiet(windows);
  if (std::ssize(windows) < kFewestWindows) return std::nullopt;
  const auto crowded = std::ranges::count_if(
      windows, [](const Window& window) { return window.others > kOtherShare * window.power; });
  return static_cast<double>(crowded) / static_cast<double>(windows.size());
}

}  // namespace hum::pipeline
