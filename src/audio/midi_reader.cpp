// Events in ticks -> seconds by the tempo map -> notes with a sampled pitch wheel.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>

#include "audio/midi.h"
#include "audio/smf_impl.h"
#include "base/error.h"

namespace hum::audio {
namespace {

constexpr double kFrameSeconds = 256.0 / 22050;
constexpr double kMaxSeconds = 24 * 3600;
constexpr double kShortestBar_s = 0.1;     // a damaged file must not have millions of bars
constexpr int64_t kMaxBends = 20'000'000;  // per file: 64 hours of one voice

// Pitch wheel of one channel over time, in semitones.
struct WheelPoint {
  double time_s;
  double semitones;
};

// Samples the wheel at the times at which format_midi writes it: evenly spaced, both ends included.
class WheelSampler {
 public:
  WheelSampler(const std::vector<WheelPoint>& points, const Note& note)
      : note_(note),
        inside_(std::ranges::lower_bound(points, note.start_s, {}, &WheelPoint::time_s)),
        at_end_(std::ranges::lower_bound(points, note.end_s, {}, &WheelPoint::time_s)),
        end_(std::ranges::upper_bound(points, note.end_s, {}, &WheelPoint::time_s)),
        before_(inside_ == points.begin() ? 0 : std::prev(inside_)->semitones) {}

  bool is_at_rest() const { return inside_ == at_end_ && before_ == 0; }

  // Half a step late, so that rounding to ticks does no harm.
  std::vector<int> sample(int64_t count) const {
    const double step_s =
        (note_.end_s - note_.start_s) / static_cast<double>(std::max<int64_t>(1, count - 1));
    std::vector<int> bends;
    double semitones = before_;
    auto next = inside_;
    for (int64_t i = 0; i < count; ++i) {
      const double time_s = note_.start_s + (static_cast<double>(i) + 0.5) * step_s;
      for (; next != at_end_ && next->time_s <= time_s; ++next) semitones = next->semitones;
      // A point exactly at the end belongs to this note if the note has moved the wheel before; a
      // second one there belongs to the next note.
      const bool is_last = i + 1 == count && count > 1;
      if (is_last && at_end_ != end_ && inside_ != at_end_) semitones = at_end_->semitones;
      bends.push_back(static_cast<int>(std::lround(3 * semitones)));
    }
    return bends;
  }

 private:
  using Iterator = std::vector<WheelPoint>::const_iterator;
  const Note& note_;
  Iterator inside_, at_end_, end_;
  double before_;
};

struct Channel {
  int program = 0;
  int volume = 100, expression = 127;
  int wheel = 0;
  double wheel_range = 2;  // semitones
  int rpn_high = 127, rpn_low = 127;
  std::vector<WheelPoint> wheel_points;
};

struct OpenNote {
  double start_s;
  int velocity;
  double gain;
  size_t part;
};

double gain_of(const Channel& channel) {
  const double product = channel.volume * channel.expression / (127.0 * 127.0);
  return product * product;
}

class SongBuilder {
 public:
  SongBuilder(MidiSong& song, int division) : song_(song) {
    if (division & 0x8000) {  // SMPTE: frames per second, ticks per frame
      const int frames = 256 - (division >> 8);
      const int ticks = division & 0xff;
      if (ticks == 0 || (frames != 24 && frames != 25 && frames != 29 && frames != 30)) {
        fail_midi(fmt::format("division {:#x} is invalid", division));
      }
      song_.ticks_per_beat = 0;
      seconds_per_tick_ = 1 / ((frames == 29 ? 30000.0 / 1001 : frames) * ticks);
    } else {
      if (division == 0) fail_midi("it has zero ticks per beat");
      song_.ticks_per_beat = division;
      seconds_per_tick_ = 0.5 / division;
    }
  }

  void build(std::vector<SmfEvent>& events) {
    std::ranges::stable_sort(events, {}, &SmfEvent::tick);
    for (const SmfEvent& event : events) {
      time_s_ += static_cast<double>(event.tick - tick_) * seconds_per_tick_;
      tick_ = event.tick;
      if (time_s_ > kMaxSeconds) fail_midi("it is longer than a day");
      apply(event);
    }
    for (auto& [key, notes] : open_) {
      for (const OpenNote& note : notes) close(key, note);
    }
    std::erase_if(song_.parts, [](const MidiPart& part) { return part.notes.empty(); });
    for (MidiPart& part : song_.parts) {
      part.gain /= static_cast<double>(part.notes.size());
      std::ranges::stable_sort(part.notes, {}, [](const Note& note) {
        return std::tuple(note.start_s, note.end_s, note.pitch);
      });
      if (names_.contains(part.track)) part.name = names_[part.track];
    }
  }

 private:
  using NoteKey = std::tuple<int, int>;  // channel, pitch

  void apply(const SmfEvent& event) {
    Channel& channel = channels_[event.channel];
    const NoteKey key{event.channel, event.data1};
    switch (event.kind) {
      case SmfKind::kNoteOn:
        open_[key].push_back(
            {time_s_, event.data2, gain_of(channel), part_of(event, channel.program)});
        break;
      case SmfKind::kNoteOff:
        if (auto& open = open_[key]; !open.empty()) {
          close(key, open.front());
          open.pop_front();
        }
        break;
      case SmfKind::kProgram:
        channel.program = event.data1;
        break;
      case SmfKind::kControl:
        apply_control(event, channel);
        break;
      case SmfKind::kWheel:
        channel.wheel = event.data1;
        add_wheel_point(channel);
        break;
      case SmfKind::kTempo:
        set_tempo(event.data1);
        break;
      case SmfKind::kMeter:
        if (song_.meters.back().start_s == time_s_) song_.meters.pop_back();
        song_.meters.push_back({time_s_, event.data1, event.data2});
        break;
      case SmfKind::kKey:
        if (!song_.key) song_.key = {.sharps = event.data1, .minor = event.data2 != 0};
        break;
      case SmfKind::kName:
        names_.try_emplace(event.track, event.text);
        break;
      case SmfKind::kEnd:
        break;
    }
  }

  void set_tempo(int microseconds) {
    if (song_.ticks_per_beat == 0) return;
    seconds_per_tick_ = microseconds * 1e-6 / song_.ticks_per_beat;
    if (song_.tempos.back().start_s == time_s_) song_.tempos.pop_back();
    song_.tempos.push_back({time_s_, 6e7 / microseconds});
  }

  // Registered parameter 0 is the wheel's range: coarse data in semitones, fine data in cents.
  void apply_control(const SmfEvent& event, Channel& channel) {
    if (event.data1 == 7) channel.volume = event.data2;
    if (event.data1 == 11) channel.expression = event.data2;
    if (event.data1 == 101) channel.rpn_high = event.data2;
    if (event.data1 == 100) channel.rpn_low = event.data2;
    if (channel.rpn_high != 0 || channel.rpn_low != 0) return;
    if (event.data1 == 6) channel.wheel_range = event.data2;
    if (event.data1 == 38) {
      channel.wheel_range = std::floor(channel.wheel_range) + std::min(event.data2, 99) / 100.0;
    }
    if (event.data1 == 6 || event.data1 == 38) add_wheel_point(channel);
  }

  void add_wheel_point(Channel& channel) {
    const double semitones = channel.wheel * channel.wheel_range / 8192;
    channel.wheel_points.push_back({time_s_, semitones});
  }

  size_t part_of(const SmfEvent& event, int program) {
    const auto [found, is_new] = part_index_.try_emplace(
        std::tuple(event.track, event.channel, program), song_.parts.size());
    if (is_new) song_.parts.push_back({event.track, event.channel, program, {}, {}, 0});
    return found->second;
  }

  void close(const NoteKey& key, const OpenNote& open) {
    if (time_s_ <= open.start_s) return;
    const auto [channel, pitch] = key;
    Note note{open.start_s, time_s_, pitch, open.velocity / 127.0, {}};
    note.bends = sample_wheel(channels_[channel].wheel_points, note);
    song_.parts[open.part].notes.push_back(std::move(note));
    song_.parts[open.part].gain += open.gain;
  }

  std::vector<int> sample_wheel(const std::vector<WheelPoint>& points, const Note& note) {
    const auto count = std::max(1LL, std::llround((note.end_s - note.start_s) / kFrameSeconds));
    const WheelSampler sampler(points, note);
    if (sampler.is_at_rest()) return {};
    bend_count_ += count;
    if (bend_count_ > kMaxBends) fail_midi("it bends too many long notes");
    const std::vector<int> bends = sampler.sample(count);
    const bool is_flat = std::ranges::all_of(bends, [](int bend) { return bend == 0; });
    return is_flat ? std::vector<int>{} : bends;
  }

  MidiSong& song_;
  double seconds_per_tick_;
  int64_t tick_ = 0;
  double time_s_ = 0;
  int64_t bend_count_ = 0;
  Channel channels_[16];
  std::map<NoteKey, std::deque<OpenNote>> open_;
  std::map<std::tuple<int, int, int>, size_t> part_index_;
  std::map<int, std::string> names_;
};

// The time `beats` quarter notes after `time_s`.
double after_beats(const MidiSong& song, double time_s, double beats) {
  auto next = std::ranges::upper_bound(song.tempos, time_s, {}, &MidiTempo::start_s);
  while (true) {
    const double beat_s = 60 / std::prev(next)->tempo_bpm;
    const double end_s = time_s + beats * beat_s;
    if (next == song.tempos.end() || end_s <= next->start_s) return end_s;
    beats -= (next->start_s - time_s) / beat_s;
    time_s = (next++)->start_s;
  }
}

}  // namespace

MidiSong parse_midi(std::string_view bytes) {
  SmfFile file = parse_smf(bytes);
  MidiSong song;
  SongBuilder(song, file.division).build(file.events);
  return song;
}

std::vector<double> bar_lines(const MidiSong& song) {
  double end_s = 0;
  for (const MidiPart& part : song.parts) {
    for (const Note& note : part.notes) end_s = std::max(end_s, note.end_s);
  }
  if (end_s == 0) return {};
  std::vector<double> lines = {0};
  auto next_meter = song.meters.begin() + 1;
  while (lines.back() < end_s) {
    const double start_s = lines.back();
    while (next_meter != song.meters.end() && next_meter->start_s < start_s + kShortestBar_s) {
      ++next_meter;
    }
    const MidiMeter& meter = *std::prev(next_meter);
    double line_s = after_beats(song, start_s, 4.0 * meter.beats / meter.unit);
    if (next_meter != song.meters.end()) line_s = std::min(line_s, next_meter->start_s);
    lines.push_back(std::max(line_s, start_s + kShortestBar_s));
  }
  return lines;
}

std::vector<Note> melodic_notes(const MidiSong& song) {
  std::vector<Note> notes;
  for (const MidiPart& part : song.parts) {
    if (part.channel == kDrumChannel) continue;
    notes.insert(notes.end(), part.notes.begin(), part.notes.end());
  }
  std::ranges::stable_sort(
      notes, {}, [](const Note& note) { return std::tuple(note.start_s, note.end_s, note.pitch); });
  return notes;
}

}  // namespace hum::audio
