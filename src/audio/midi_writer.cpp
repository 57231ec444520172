#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "audio/midi.h"
#include "base/error.h"

namespace hum::audio {
namespace {

constexpr int kTicksPerBeat = 220;
constexpr int kBendsPerSemitone = 3;
constexpr int kWheelPerSemitone = 4096;
constexpr int kWheelLimit = 8192;
constexpr uint32_t kMaxTick = 0x0fffffff;

// Events at the same tick are written in this order.
enum Rank { kProgram, kWheel, kNoteOff, kNoteOn };

struct Event {
  uint32_t tick;
  Rank rank;
  int order;  // pitch and velocity for notes, as pretty_midi sorts them
  std::array<uint8_t, 3> bytes;
};

void append_variable_length(std::string& out, uint32_t value) {
  for (int shift = 21; shift > 0; shift -= 7) {
    if (value >> shift != 0) out += static_cast<char>(0x80 | ((value >> shift) & 0x7f));
  }
  out += static_cast<char>(value & 0x7f);
}

void append_big_endian(std::string& out, uint32_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
}

void append_track(std::string& out, const std::string& body) {
  out += "MTrk";
  append_big_endian(out, static_cast<uint32_t>(body.size()), 4);
  out += body;
}

const std::string kEndOfTrack = std::string("\x01\xff\x2f\x00", 4);

void append_tempo(std::string& out, uint32_t delta_ticks, double beat_s) {
  append_variable_length(out, delta_ticks);
  out += "\xff\x51\x03";
  append_big_endian(out, static_cast<uint32_t>(std::lround(1e6 * beat_s)), 3);
}

// x/4, one metronome click per quarter note
void append_time_signature(std::string& out, int beats) {
  out += std::string("\x00\xff\x58\x04", 4) + static_cast<char>(beats) + "\x02\x18\x08";
}

void append_key_signature(std::string& out, const KeySignature& key) {
  out += std::string("\x00\xff\x59\x02", 4) + static_cast<char>(key.sharps) +
         static_cast<char>(key.minor);
}

// Seconds to ticks: one tempo, except for the beats before the requested first beat.
class TempoMap {
 public:
  explicit TempoMap(const NoteFileOptions& options)
      : beat_s_(60 / options.tempo_bpm), first_s_(options.first_beat_s), key_(options.key) {
    if (first_s_ <= 0) return;
    const double beyond = first_s_ / beat_s_ - kLongestLeadIn;
    if (beyond > 0) first_s_ -= 4 * std::ceil(beyond / 4) * beat_s_;
    if (first_s_ < kShortestLeadIn * beat_s_) first_s_ += beat_s_;
    lead_in_beats_ = std::max(static_cast<int>(std::lround(first_s_ / beat_s_)), 1);
  }

  uint32_t tick_of(double time_s) const {
    const double beats = time_s < first_s_ ? time_s / first_s_ * lead_in_beats_
                                           : lead_in_beats_ + (time_s - first_s_) / beat_s_;
    const double tick = std::nearbyint(beats * kTicksPerBeat);
    HUM_REQUIRE(tick >= 0 && tick <= kMaxTick, "format_midi: time {} s does not fit a MIDI file",
                time_s);
    return static_cast<uint32_t>(tick);
  }

  std::string track() const {
    std::string body;
    if (lead_in_beats_ > 0) {
      append_tempo(body, 0, first_s_ / lead_in_beats_);
      append_time_signature(body, lead_in_beats_);
    }
    append_tempo(body, static_cast<uint32_t>(lead_in_beats_ * kTicksPerBeat), beat_s_);
    append_time_signature(body, 4);
    if (key_) append_key_signature(body, *key_);
    return body + kEndOfTrack;
  }

 private:
  static constexpr double kShortestLeadIn = 0.25;  // beats: at most 4 times the requested tempo
  static constexpr double kLongestLeadIn = 254;    // beats in the lead-in bar: one byte
  double beat_s_, first_s_;
  std::optional<KeySignature> key_;
  int lead_in_beats_ = 0;
};

class TrackWriter {
 public:
  TrackWriter(int channel, const NoteFileOptions& options) : channel_(channel), tempo_(options) {
    add(0, kProgram, 0, 0xc0, options.program, 0);
  }

  void add_note(const Note& note) {
    add_bends(note);
    const int velocity = static_cast<int>(std::nearbyint(127 * note.amplitude));
    add(tick_of(note.start_s), kNoteOn, note.pitch * 256 + velocity, 0x90, note.pitch, velocity);
    add(tick_of(note.end_s), kNoteOff, note.pitch * 256, 0x90, note.pitch, 0);
  }

  std::string body() {
    std::ranges::stable_sort(events_, {},
                             [](const Event& e) { return std::tuple(e.tick, e.rank, e.order); });
    std::string out;
    uint32_t tick = 0;
    int running_status = -1;
    for (const Event& event : events_) {
      append_variable_length(out, event.tick - tick);
      tick = event.tick;
      const int size = event.rank == kProgram ? 2 : 3;
      const int first = event.bytes[0] == running_status ? 1 : 0;
      out.append(reinterpret_cast<const char*>(event.bytes.data()) + first,
                 static_cast<size_t>(size - first));
      running_status = event.bytes[0];
    }
    return out + kEndOfTrack;
  }

 private:
  uint32_t tick_of(double time_s) const { return tempo_.tick_of(time_s); }

  void add(uint32_t tick, Rank rank, int order, int status, int data1, int data2) {
    events_.push_back({tick,
                       rank,
                       order,
                       {static_cast<uint8_t>(status | channel_), static_cast<uint8_t>(data1),
                        static_cast<uint8_t>(data2)}});
  }

  void add_wheel(double time_s, int value) {
    const int unsigned_value = value + kWheelLimit;
    add(tick_of(time_s), kWheel, 0, 0xe0, unsigned_value & 0x7f, unsigned_value >> 7);
    wheel_ = value;
  }

  void add_bends(const Note& note) {
    if (note.bends.empty() && wheel_ != 0) add_wheel(note.start_s, 0);
    const double last = std::max<double>(1, static_cast<double>(note.bends.size()) - 1);
    for (size_t i = 0; i < note.bends.size(); ++i) {
      const double time_s =
          note.start_s + (note.end_s - note.start_s) * (static_cast<double>(i) / last);
      const double wheel = std::nearbyint(note.bends[i] * static_cast<double>(kWheelPerSemitone) /
                                          kBendsPerSemitone);
      add_wheel(time_s, static_cast<int>(std::clamp<double>(wheel, -kWheelLimit, kWheelLimit - 1)));
    }
  }

  int channel_;
  TempoMap tempo_;
  int wheel_ = 0;
  std::vector<Event> events_;
};

// Tracks in order of each pitch's first note; the drum channel is skipped.
std::vector<std::string> note_tracks(std::span<const Note> notes, const NoteFileOptions& options) {
  std::vector<TrackWriter> tracks;
  std::map<int, size_t> track_of_pitch;
  for (const Note& note : notes) {
    const int key = options.multiple_pitch_bends ? note.pitch : 0;
    const auto [found, is_new] = track_of_pitch.try_emplace(key, tracks.size());
    if (is_new) {
      const int channel = static_cast<int>(tracks.size() % 15);
      tracks.emplace_back(channel < kDrumChannel ? channel : channel + 1, options);
    }
    tracks[found->second].add_note(note);
  }
  std::vector<std::string> bodies;
  for (TrackWriter& track : tracks) bodies.push_back(track.body());
  return bodies;
}

}  // namespace

std::vector<Note> drop_overlapping_bends(std::span<const Note> notes) {
  std::vector<Note> result(notes.begin(), notes.end());
  std::ranges::stable_sort(result, {}, [](const Note& note) {
    return std::tuple(note.start_s, note.end_s, note.pitch, note.amplitude);
  });
  for (size_t i = 0; i < result.size(); ++i) {
    for (size_t j = i + 1; j < result.size() && result[j].start_s < result[i].end_s; ++j) {
      result[i].bends.clear();
      result[j].bends.clear();
    }
  }
  return result;
}

namespace {

void require_sound(const NoteFileOptions& options) {
  HUM_REQUIRE(options.tempo_bpm >= 4 && options.tempo_bpm <= 1000,
              "format_midi: tempo must be 4 to 1000 bpm, got {}", options.tempo_bpm);
  HUM_REQUIRE(options.first_beat_s >= 0 && std::isfinite(options.first_beat_s),
              "format_midi: first beat must be finite and >= 0, got {} s", options.first_beat_s);
  HUM_REQUIRE(!options.key || std::abs(options.key->sharps) <= 7,
              "format_midi: key must have -7 to 7 sharps, got {}",
              options.key ? options.key->sharps : 0);
  HUM_REQUIRE(options.program >= 0 && options.program <= 127,
              "format_midi: program must be 0 to 127, got {}", options.program);
}

std::string format_tracks(const std::vector<std::string>& bodies, const NoteFileOptions& options) {
  std::string out = "MThd";
  append_big_endian(out, 6, 4);
  append_big_endian(out, 1, 2);
  append_big_endian(out, static_cast<uint32_t>(bodies.size() + 1), 2);
  append_big_endian(out, kTicksPerBeat, 2);
  append_track(out, TempoMap(options).track());
  for (const std::string& body : bodies) append_track(out, body);
  return out;
}

}  // namespace

std::string format_midi(std::span<const Note> notes, const NoteFileOptions& options) {
  require_sound(options);
  const auto dropped = options.multiple_pitch_bends ? std::vector<Note>(notes.begin(), notes.end())
                                                    : drop_overlapping_bends(notes);
  return format_tracks(note_tracks(dropped, options), options);
}

std::string format_midi_song(std::span<const MidiPart> parts, const NoteFileOptions& options) {
  std::vector<std::string> bodies;
  for (const MidiPart& part : parts) {
    HUM_REQUIRE(part.channel >= 0 && part.channel < 16 && part.name.size() < 128,
                "format_midi_song: channel {}, name '{}'", part.channel, part.name);
    NoteFileOptions own = options;
    own.program = part.program;
    require_sound(own);
    TrackWriter track(part.channel, own);
    for (const Note& note : drop_overlapping_bends(part.notes)) track.add_note(note);
    std::string body("\x00\xff\x03", 3);
    append_variable_length(body, static_cast<uint32_t>(part.name.size()));
    bodies.push_back(body + part.name + track.body());
  }
  return format_tracks(bodies, options);
}

}  // namespace hum::audio
