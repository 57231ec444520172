#include "app/play/references.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "audio/io.h"
#include "audio/pitch.h"
#include "base/error.h"
#include "data/synthesis/features.h"
#include "data/synthesis/level.h"
#include "data/synthesis/melody.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"
#include "decode/read.h"
#include "models/humming/note_frames.h"
#include "models/weights_folder.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using audio::Note;

constexpr double kMinReference_s = 1;
constexpr uint64_t kReferenceSeed = 20261101;  // of a melody that no training item has
constexpr int kPitches = 8;
constexpr double kVelocities[] = {60, 104};  // 5 and 6 dB around the middle of the scale
constexpr double kSounding_s = 0.8;
// Of frames that sound, in amplitude: -30 dB.
constexpr float kSounding = 0.0316F;
// Of frames with a pitch (audio::yin). Noise has about 1, one note less than 0.1.
constexpr double kMostAperiodic = 0.5;
constexpr int64_t kFewestPitched = 25;  // half a second

// The start of the sound: the first sample within 40 dB of the loudest.
size_t first_sound(std::span<const float> samples) {
  float peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::fabs(sample));
  const auto found =
      std::ranges::find_if(samples, [&](float x) { return std::fabs(x) >= 0.01F * peak; });
  return static_cast<size_t>(found - samples.begin());
}

std::vector<Note> reference_melody(const data::Preset& preset) {
  return data::make_melody(kReferenceSeed, static_cast<uint64_t>(preset.program), preset,
                           {.seconds = kReference_s, .expressive_share = 0})
      .notes;
}

// The pitch of note i of `count` that are spread over a preset's range.
int spread_pitch(const data::Preset& preset, int i, int count) {
  const double step = static_cast<double>(preset.high - preset.low) * i / (count - 1);
  return preset.low + static_cast<int>(std::lround(step));
}

// The RMS of each frame of 20 ms.
std::vector<float> levels_of(std::span<const float> samples) {
  std::vector<float> levels;
  while (!samples.empty()) {
    const auto frame = samples.first(std::min<size_t>(samples.size(), data::kFrameSamples));
    double sum = 0;
    for (const float x : frame) sum += static_cast<double>(x) * x;
    levels.push_back(static_cast<float>(std::sqrt(sum / data::kFrameSamples)));
    samples = samples.subspan(frame.size());
  }
  return levels;
}

int64_t frames_in(double seconds) { return std::llround(seconds * data::kFramesPerSecond); }
double seconds_of(size_t samples) { return static_cast<double>(samples) / data::kSampleRate; }

[[noreturn]] void fail_short(const std::string& file, double seconds) {
  fail(
      ExitCode::kBadData,
      fmt::format("{}: {:.2f} s of sound is too little to learn a timbre from",
                  audio::name_of(file), std::min(seconds, kMinReference_s - 0.01)),
      fmt::format("use a recording with {} s of sound or more; silence at its start does not count",
                  kMinReference_s));
}

// The best frames of a recording, at most `most`. Keeps no more of it.
Clip read_clip(const std::string& file, int64_t most, double max_seconds,
               std::vector<std::string>& warnings) {
  audio::SourceFormat source;
  auto mono = decode::read_mono(file, max_seconds, &source);
  if (mono.seconds() < kMinReference_s) fail_short(file, mono.seconds());
  const auto recording = pipeline::checked_recording(std::move(mono), source, audio::name_of(file));
  for (const auto& warning : recording.warnings) {
    warnings.push_back(audio::name_of(file) + ": " + warning);
  }
  const std::span<const float> samples = recording.samples;
  size_t from = first_sound(samples);
  if (seconds_of(samples.size() - from) < kMinReference_s) {
    fail_short(file, seconds_of(samples.size() - from));
  }
  from += best_part(samples.subspan(from), static_cast<double>(most) / data::kFramesPerSecond);
  const auto part = samples.subspan(
      from, std::min(samples.size() - from, static_cast<size_t>(most * data::kFrameSamples)));
  return {.part = {.file = file,
                   .recording_s = recording.seconds,
                   .from_s = seconds_of(from),
                   .to_s = seconds_of(from + part.size())},
          .samples = {part.begin(), part.end()}};
}

// 1 for frames that sound and have a pitch; if there are hardly any, for those that sound.
std::vector<int64_t> frames_that_count(std::span<const float> samples) {
  const auto levels = levels_of(samples);
  const auto pitch =
      audio::yin(samples, data::kSampleRate,
                 {.min_hz = 27.5, .window_samples = 4096, .hop_samples = data::kFrameSamples});
  const float limit = kSounding * std::ranges::max(levels);
  std::vector<int64_t> sounding, pitched;
  for (size_t frame = 0; frame < levels.size(); ++frame) {
    const bool sounds = levels[frame] >= limit;
    sounding.push_back(sounds ? 1 : 0);
    pitched.push_back(sounds && pitch.aperiodicity[frame] < kMostAperiodic ? 1 : 0);
  }
  return std::ranges::count(pitched, 1) >= kFewestPitched ? pitched : sounding;
}

double overlap_s(const Note& a, const Note& b) {
  return std::min(a.end_s, b.end_s) - std::max(a.start_s, b.start_s);
}

bool hides(const Note& kept, const Note& other) {
  const double shorter_s = std::min(kept.end_s - kept.start_s, other.end_s - other.start_s);
  return overlap_s(kept, other) > shorter_s / 2;
}

}  // namespace

fs::path reference_file(const fs::path& weights, const data::Preset& preset) {
  return models::weights_part(weights, "references") / (std::string(preset.name) + ".safetensors");
}

std::vector<const data::Preset*> known_presets(const fs::path& weights) {
  std::vector<const data::Preset*> known;
  for (const data::Preset& preset : data::presets()) {
    if (fs::exists(reference_file(weights, preset))) known.push_back(&preset);
  }
  return known;
}

std::vector<float> render_reference(const data::Preset& preset, data::FluidRenderer& renderer) {
  return data::levelled(renderer.render(reference_melody(preset), preset.program, kReference_s));
}

std::vector<Note> single_notes(const data::Preset& preset) {
  std::vector<Note> notes;
  for (int i = 0; i < kPitches; ++i) {
    const int pitch = spread_pitch(preset, i, kPitches);
    for (const double velocity : kVelocities) {
      const double start_s = kStoredNote_s * static_cast<double>(notes.size());
      notes.push_back({.start_s = start_s,
                       .end_s = start_s + kSounding_s,
                       .pitch = pitch,
                       .amplitude = velocity / 127});
    }
  }
  return notes;
}

models::codec::TokenFile reference_tokens(const data::Preset& preset, data::FluidRenderer& renderer,
                                          const models::codec::CodecSession& codec) {
  const auto melody = render_reference(preset, renderer);
  const auto notes = single_notes(preset);
  const auto single = data::levelled(
      renderer.render(notes, preset.program, kStoredNote_s * static_cast<double>(notes.size())));
  models::codec::TokenFile tokens{.codes = codec.encode_sound(melody),
                                  .books = codec.config().sound_books(),
                                  .samples = std::ssize(melody) + std::ssize(single),
                                  .fingerprint = codec.fingerprint(),
                                  .notes = reference_melody(preset)};
  const auto more = codec.encode_sound(single);
  tokens.codes.insert(tokens.codes.end(), more.begin(), more.end());
  const auto later = data::shifted(notes, kReference_s);
  tokens.notes.insert(tokens.notes.end(), later.begin(), later.end());
  return tokens;
}

models::humming::LateDecay decay_of(std::span<const float> samples, std::span<const Note> notes) {
  const auto levels = models::humming::frame_levels(samples);
  const auto frames = std::ssize(levels);
  return {levels, data::melody_features(notes, frames, data::kAllMelodyFeatures),
          frames_of_one_note(notes, frames)};
}

models::humming::LateDecay preset_decay(const data::Preset& preset, data::FluidRenderer& renderer) {
  constexpr int kHeldPitches = 4;
  constexpr double kHeld_s = 6, kApart_s = 8;
  std::vector<Note> notes;
  for (int i = 0; i < kHeldPitches; ++i) {
    notes.push_back({.start_s = kApart_s * i,
                     .end_s = kApart_s * i + kHeld_s,
                     .pitch = spread_pitch(preset, i, kHeldPitches)});
  }
  return decay_of(renderer.render(notes, preset.program, kApart_s * kHeldPitches), notes);
}

std::vector<Clip> read_clips(std::span<const std::string> files, double max_seconds,
                             std::vector<std::string>& warnings) {
  const int64_t reference = frames_in(kReference_s);
  const int64_t most = std::min(reference, frames_in(kClips_s) / std::ssize(files));
  std::vector<Clip> clips;
  std::vector<int64_t> frames;
  for (const std::string& file : files) {
    clips.push_back(read_clip(file, most, max_seconds, warnings));
    frames.push_back(std::ssize(levels_of(clips.back().samples)));
  }
  const auto shares = fair_shares(frames, reference);
  for (size_t i = 0; i < clips.size(); ++i) {
    auto& [part, samples] = clips[i];
    const double seconds = static_cast<double>(shares[i]) / data::kFramesPerSecond;
    part.read_from_s = part.from_s + seconds_of(best_part(samples, seconds));
    part.read_to_s = part.read_from_s + seconds;
  }
  return clips;
}

std::vector<int64_t> fair_shares(std::span<const int64_t> sizes, int64_t total) {
  std::vector<size_t> smallest_first(sizes.size());
  std::iota(smallest_first.begin(), smallest_first.end(), size_t{0});
  std::ranges::stable_sort(smallest_first, {}, [&](size_t i) { return sizes[i]; });
  std::vector<int64_t> shares(sizes.size());
  int64_t waiting = std::ssize(sizes);
  for (const size_t i : smallest_first) {
    shares[i] = std::min(sizes[i], total / waiting--);
    total -= shares[i];
  }
  return shares;
}

size_t best_part(std::span<const float> samples, double seconds) {
  const auto frames = static_cast<size_t>(std::llround(seconds * data::kFramesPerSecond));
  if (samples.size() <= frames * data::kFrameSamples) return 0;
  const auto counts = frames_that_count(samples);
  int64_t counted = std::accumulate(counts.begin(), counts.begin() + frames, int64_t{0});
  size_t best = 0;
  int64_t most = counted;
  for (size_t first = 1; first + frames <= counts.size(); ++first) {
    counted += counts[first + frames - 1] - counts[first - 1];
    if (counted > most) {
      best = first;
      most = counted;
    }
  }
  return best * data::kFrameSamples;
}

std::vector<Note> clip_notes(std::span<const float> samples, std::vector<Note> heard) {
  return data::velocity_from_rms(samples, one_line(std::move(heard)));
}

std::vector<Note> one_line(std::vector<Note> notes) {
  std::ranges::stable_sort(notes, std::ranges::greater{}, audio::certainty);
  std::vector<Note> line;
  for (const Note& note : notes) {
    if (std::ranges::none_of(line, [&](const Note& kept) { return hides(kept, note); })) {
      line.push_back(note);
    }
  }
  std::ranges::stable_sort(line, {}, &Note::start_s);
  return line;
}

std::vector<uint8_t> frames_of_one_note(std::span<const Note> notes, int64_t frames) {
  std::vector<int> count(static_cast<size_t>(frames));
  for (const Note& note : notes) {
    // The frame in which a note ends and the next begins is the next one's.
    const int64_t begin = data::frame_of(note.start_s);
    const int64_t end = std::max(begin + 1, data::frame_of(note.end_s));
    for (int64_t t = begin; t < std::min(frames, end); ++t) ++count[static_cast<size_t>(t)];
  }
  std::vector<uint8_t> result;
  for (const int notes_here : count) result.push_back(notes_here <= 1 ? 1 : 0);
  return result;
}

}  // namespace hum::app
