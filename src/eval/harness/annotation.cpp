#include "eval/harness/annotation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "audio/io.h"
#include "base/error.h"
#include "base/files.h"

namespace hum::eval {
namespace {

namespace fs = std::filesystem;

constexpr const char* kColumns =
    "the columns are onset in s, pitch in Hz, duration in s; no header";

constexpr const char* kCurveColumns = "the columns are time in s, pitch in Hz; no header";

constexpr const char* kExpected =
    "it needs files such as take.wav and take_notes.csv, with rows of onset in s, pitch in Hz, "
    "duration in s";

// NaN if the text is not a finite number.
double to_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number =
      error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return is_number ? value : std::numeric_limits<double>::quiet_NaN();
}

// Empty if the row has these numbers and no others, otherwise the problem.
std::string read_numbers(std::string_view row, std::span<double> numbers) {
  if (std::ranges::count(row, ',') + 1 != std::ssize(numbers)) {
    return fmt::format("expected {} numbers", numbers.size());
  }
  for (double& number : numbers) {
    const size_t comma = std::min(row.find(','), row.size());
    number = to_number(row.substr(0, comma));
    if (std::isnan(number)) return fmt::format("'{}' is not a number", row.substr(0, comma));
    row.remove_prefix(std::min(comma + 1, row.size()));
  }
  return {};
}

// Adds the row's note. Empty if it is one, otherwise the problem.
std::string add_note(std::string_view row, std::vector<PitchedNote>& notes) {
  std::array<double, 3> numbers{};
  if (std::string fault = read_numbers(row, numbers); !fault.empty()) return fault;
  const auto [onset_s, hz, duration_s] = numbers;
  if (onset_s < 0) return fmt::format("it starts at {} s, before zero", onset_s);
  if (hz <= 0) return fmt::format("{} Hz is not a pitch", hz);
  if (duration_s < 0) return fmt::format("its duration of {} s is negative", duration_s);
  notes.push_back({onset_s, onset_s + duration_s, hz});
  return {};
}

// The same for a frame of a pitch curve.
std::string add_frame(std::string_view row, MelodyTrack& track) {
  std::array<double, 2> numbers{};
  if (std::string fault = read_numbers(row, numbers); !fault.empty()) return fault;
  const auto [time_s, hz] = numbers;
  if (time_s < 0) return fmt::format("{} s is before zero", time_s);
  if (track.size() > 0 && time_s <= track.time_s.back()) {
    return fmt::format("{} s is not after the row before", time_s);
  }
  track.add(time_s, std::max(0.0, hz), true);
  return {};
}

// Passes every row that is not empty to `add`, which returns the problem with it. Throws: kBadData,
// with the line and the hint.
void read_rows(const fs::path& path, const char* hint,
               const std::function<std::string(std::string_view row)>& add) {
  const std::string text = read_file(path);
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view row = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    if (const std::string fault = add(row); !fault.empty()) {
      fail(ExitCode::kBadData, fmt::format("{}: line {}: {}", path.string(), line, fault), hint);
    }
  }
}

bool is_annotation_of(const fs::path& sound, const fs::path& path) {
  const std::string name = path.filename().string(), stem = sound.stem().string();
  if (!name.starts_with(stem) || !name.ends_with(".csv") || name.ends_with("_f0.csv")) return false;
  return std::isalnum(static_cast<unsigned char>(name[stem.size()])) == 0;
}

std::vector<fs::path> files_of(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    fail(ExitCode::kNoInput, folder.string() + ": is not a folder", kExpected);
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<PitchedNote> read_annotation(const fs::path& path) {
  std::vector<PitchedNote> notes;
  read_rows(path, kColumns, [&](std::string_view row) { return add_note(row, notes); });
  if (notes.empty()) fail(ExitCode::kBadData, path.string() + ": has no notes", kColumns);
  return notes;
}

MelodyTrack read_pitch_curve(const fs::path& path) {
  MelodyTrack track;
  read_rows(path, kCurveColumns, [&](std::string_view row) { return add_frame(row, track); });
  if (track.size() == 0) fail(ExitCode::kBadData, path.string() + ": has no rows", kCurveColumns);
  return track;
}

bool is_annotation(const fs::path& path) {
  if (audio::extension_of(path) != ".csv") return false;
  const std::string text = read_file(path);
  const size_t start = std::min(text.find_first_not_of("\r\n"), text.size());
  const std::string_view row = std::string_view(text).substr(start, text.find('\n', start) - start);
  return std::ranges::count(row, ',') == 2;
}

std::vector<AnnotatedRecording> annotated_recordings(const fs::path& folder) {
  const auto files = files_of(folder);
  std::vector<AnnotatedRecording> recordings;
  for (const fs::path& path : files) {
    if (path.extension() == ".wav") recordings.push_back({path, {}});
  }
  for (const fs::path& path : files) {
    AnnotatedRecording* owner = nullptr;  // the one with the longest name
    for (AnnotatedRecording& recording : recordings) {
      if (!is_annotation_of(recording.sound, path)) continue;
      const auto size = recording.sound.native().size();
      if (owner == nullptr || size > owner->sound.native().size()) owner = &recording;
    }
    if (owner != nullptr) owner->annotations.push_back(path);
  }
  std::erase_if(recordings, [](const auto& recording) { return recording.annotations.empty(); });
  if (recordings.empty()) {
    fail(ExitCode::kNoInput, folder.string() + ": has no annotated recording", kExpected);
  }
  return recordings;
}

}  // namespace hum::eval
