#include "audio/notes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>

#include "audio/io.h"
#include "audio/midi.h"
#include "audio/notes_impl.h"
#include "audio/notes_json.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace hum::audio {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kCsvHeader = "start_time_s,end_time_s,pitch_midi,velocity,pitch_bend";

[[noreturn]] void fail_extension(const fs::path& path) {
  fail(ExitCode::kUsage,
       fmt::format("{}: '{}' is not a note file", path.string(), path.extension().string()),
       "name it .mid, .csv or .json");
}

std::vector<Note> parse_json_notes(const fs::path& path) {
  const Json json = read_json(path);
  if (!json.is_object() || !json.contains("notes") || !json["notes"].is_array()) {
    fail(ExitCode::kBadData, path.string() + ": contains no list of notes",
         R"(expected {"notes": [{"start", "end", "pitch", "amplitude", "bends"}]})");
  }
  return parse_notes(json["notes"], path.string());
}

std::string format_json_notes(std::span<const Note> notes) {
  std::string text = "{\"notes\": [";
  for (const Note& note : notes) {
    text += (&note == notes.data() ? "\n  " : ",\n  ") + to_text(to_json(note));
  }
  return text + "\n]}\n";
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

// NaN unless the whole text is one number.
double to_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : std::nan("");
}

int to_pitch(std::string_view text) {
  const double value = to_number(text);  // any that an int cannot hold is out of range anyway
  return std::isnan(value) ? -1 : static_cast<int>(std::lround(std::clamp(value, -1e6, 1e6)));
}

Note note_from_csv(const std::vector<std::string_view>& cells) {
  Note note;
  note.start_s = to_number(cells[0]);
  note.end_s = to_number(cells[1]);
  note.pitch = to_pitch(cells[2]);
  note.amplitude = to_number(cells[3]) / 127;
  for (size_t i = 4; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    const double bend = to_number(cells[i]);
    note.bends.push_back(std::abs(bend) <= kMaxBend ? static_cast<int>(std::lround(bend))
                                                    : kMaxBend + 1);
  }
  return note;
}

std::vector<Note> parse_csv_notes(const fs::path& path) {
  const std::string text = read_text(path);
  std::vector<Note> notes;
  int line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || (line_number == 1 && line.starts_with("start_time_s"))) continue;
    const auto cells = split(line, ',');
    const bool has_numbers = cells.size() >= 4 && std::isfinite(to_number(cells[3]));
    const Note note = has_numbers ? note_from_csv(cells) : Note{};
    const std::string fault = has_numbers ? fault_of(note) : "expected at least four numbers";
    if (!fault.empty()) {
      fail(ExitCode::kBadData, fmt::format("{}: line {}: {}", path.string(), line_number, fault),
           fmt::format("the columns are {}", kCsvHeader));
    }
    notes.push_back(note);
  }
  return notes;
}

std::string format_csv_notes(std::span<const Note> notes) {
  std::string text = std::string(kCsvHeader) + "\n";
  for (const Note& note : notes) {
    text += fmt::format("{},{},{},{}", note.start_s, note.end_s, note.pitch,
                        std::nearbyint(127 * note.amplitude));
    for (const int bend : note.bends) text += fmt::format(",{}", bend);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string fault_of(const Note& note) {
  if (!std::isfinite(note.start_s) || !std::isfinite(note.end_s))
    return "its times are not numbers";
  if (note.start_s < 0) return fmt::format("it starts at {} s, before zero", note.start_s);
  if (note.end_s <= note.start_s) {
    return fmt::format("it ends at {} s but starts at {} s", note.end_s, note.start_s);
  }
  if (note.pitch < 0 || note.pitch > 127) {
    return fmt::format("pitch {} is outside 0..127", note.pitch);
  }
  if (!(note.amplitude >= 0 && note.amplitude <= 1)) {
    return fmt::format("amplitude {} is outside 0..1", note.amplitude);
  }
  if (!(note.hz >= 0 && std::isfinite(note.hz))) {
    return fmt::format("hz {} is not a frequency", note.hz);
  }
  if (!(note.confidence >= 0 && note.confidence <= 1)) {
    return fmt::format("confidence {} is outside 0..1", note.confidence);
  }
  const auto too_far = [](int bend) { return bend < -kMaxBend || bend > kMaxBend; };
  return std::ranges::any_of(note.bends, too_far)
             ? fmt::format("a bend is outside {}..{}", -kMaxBend, kMaxBend)
             : "";
}

// `hz` is bounded, so that a transposition keeps it finite.
std::vector<Note> checked_and_sorted(std::vector<Note> notes, const std::string& where) {
  constexpr double kHighest_hz = 1e5;
  for (size_t i = 0; i < notes.size(); ++i) {
    std::string fault = fault_of(notes[i]);
    if (fault.empty() && notes[i].hz > kHighest_hz) {
      fault = fmt::format("hz {} is above {:g}", notes[i].hz, kHighest_hz);
    }
    if (!fault.empty()) {
      fail(ExitCode::kBadData, fmt::format("{}: note {}: {}", where, i + 1, fault));
    }
  }
  std::ranges::stable_sort(
      notes, {}, [](const Note& note) { return std::tuple(note.start_s, note.end_s, note.pitch); });
  return notes;
}

double midi_to_hz(double pitch) { return 440 * std::exp2((pitch - 69) / 12); }
double hz_to_midi(double hz) { return 69 + 12 * std::log2(hz / 440); }

std::string note_name(int pitch) {
  constexpr std::array kNames{"C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"};
  const int octave = pitch >= 0 ? pitch / 12 : -((11 - pitch) / 12);
  return fmt::format("{}{}", kNames[static_cast<size_t>(pitch - 12 * octave)], octave - 1);
}

double cents_of(const Note& note) {
  HUM_REQUIRE(note.hz > 0, "cents_of: the sung pitch is unknown");
  return 100 * (hz_to_midi(note.hz) - note.pitch);
}

double certainty(const Note& note) {
  return note.confidence > 0 ? note.confidence : note.amplitude;
}

void transpose(Note& note, int semitones) {
  note.pitch += semitones;
  note.hz *= std::exp2(semitones / 12.0);
}

double pitch_at(const Note& note, double time_s) {
  if (note.bends.empty()) return note.pitch;
  const double last = static_cast<double>(note.bends.size() - 1);
  const double fraction = (time_s - note.start_s) / (note.end_s - note.start_s);
  const double position = std::clamp(fraction * last, 0.0, last);
  const auto before = static_cast<size_t>(position);
  const size_t after = std::min(before + 1, note.bends.size() - 1);
  const double weight = position - static_cast<double>(before);
  return note.pitch + ((1 - weight) * note.bends[before] + weight * note.bends[after]) / 3;
}

std::vector<Note> read_notes(const fs::path& path) {
  const std::string extension = extension_of(path);
  std::vector<Note> notes;
  if (extension == ".json") {
    notes = parse_json_notes(path);
  } else if (extension == ".csv") {
    notes = parse_csv_notes(path);
  } else if (extension == ".mid" || extension == ".midi") {
    const std::string bytes = read_file(path);
    const ErrorContext context([&] { return "reading " + path.string(); });
    notes = melodic_notes(parse_midi(bytes));
  } else {
    fail_extension(path);
  }
  return checked_and_sorted(std::move(notes), path.string());
}

void write_notes(const fs::path& path, std::span<const Note> notes,
                 const NoteFileOptions& options) {
  for (const Note& note : notes) {
    const std::string fault = fault_of(note);
    HUM_REQUIRE(fault.empty(), "write_notes: note {}: {}", &note - notes.data() + 1, fault);
  }
  const std::string extension = extension_of(path);
  if (extension == ".json") return write_file(path, format_json_notes(notes));
  if (extension == ".csv") return write_file(path, format_csv_notes(notes));
  if (extension == ".mid" || extension == ".midi") {
    return write_file(path, format_midi(notes, options));
  }
  fail_extension(path);
}

}  // namespace hum::audio
