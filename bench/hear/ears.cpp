#include "bench/hear/ears.h"

#include <cmath>
#include <filesystem>
#include <numeric>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "audio/bends.h"
#include "audio/io.h"
#include "base/error.h"
#include "base/log.h"
#include "bench/peer_settings.h"
#include "bench/peers.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "models/ear/grid.h"

namespace hum::bench::hear {
namespace {

namespace fs = std::filesystem;

// Basic Pitch's certainty of a note is its amplitude.
Notes with_bends(std::span<const audio::Note> notes) {
  Notes result;
  for (const audio::Note& note : notes) {
    double bend = 0;
    if (!note.bends.empty()) {
      bend = std::accumulate(note.bends.begin(), note.bends.end(), 0.0) /
             (audio::kBendsPerSemitone * static_cast<double>(note.bends.size()));
    }
    result.push_back({note.start_s, note.end_s, audio::midi_to_hz(note.pitch + bend), note.pitch,
                      note.amplitude});
  }
  return result;
}

// A listener that hears one sound at a time.
Listener one_by_one(std::string name, std::function<Notes(std::span<const float>)> hear) {
  return {std::move(name), [hear = std::move(hear)](std::span<const Sound> sounds) {
            std::vector<Notes> all;
            for (const Sound& sound : sounds) all.push_back(hear(sound));
            return all;
          }};
}

Listener basic_pitch(runtime::Session& session) {
  return one_by_one(kBasicPitch,
                    [transcribe = app::transcriber(session, {})](std::span<const float> samples) {
                      return with_bends(transcribe(samples));
                    });
}

std::vector<Notes> hear_with_swift_f0(std::span<const Sound> sounds) {
  const ScratchFolder folder;
  const Json heard =
      run_peer("notes_swift_f0.py", write_sounds(sounds, folder), {}, kPeersNotes).at("notes");
  HUM_CHECK(heard.size() == sounds.size(), "{} sounds, {} lists of notes", sounds.size(),
            heard.size());
  std::vector<Notes> all;
  for (const Json& notes : heard) {
    all.emplace_back();
    for (const Json& note : notes) {
      all.back().push_back({.start_s = note.at("start"),
                            .end_s = note.at("end"),
                            .hz = note.at("hz"),
                            .pitch = note.at("pitch")});
    }
  }
  return all;
}

}  // namespace

std::vector<eval::PitchedNote> pitched(const Notes& notes) {
  std::vector<eval::PitchedNote> result;
  for (const Heard& note : notes) result.push_back({note.start_s, note.end_s, note.hz});
  return result;
}

std::vector<std::string> write_sounds(std::span<const Sound> sounds, const ScratchFolder& folder) {
  std::vector<std::string> files;
  for (const Sound& sound : sounds) {
    files.push_back(folder / fmt::format("{}.wav", files.size()));
    audio::write_audio(files.back(), {.rate_hz = data::kSampleRate, .samples = sound},
                       audio::SampleFormat::kFloat);
  }
  return files;
}

fs::path ear_folder(const Scale& scale) {
  return scale.ear_weights.empty() ? app::weights_folder("") / "ear" : fs::path(scale.ear_weights);
}

Notes decoded(const models::ear::Frames& frames, const models::ear::DecoderOptions& options) {
  Notes notes;
  for (const auto& note : models::ear::decode(frames, options)) {
    notes.push_back({note.start_s, note.end_s, note.hz, note.pitch, note.confidence});
  }
  return notes;
}

Ears::Ears(const Scale& scale)
    : session_(app::session_options()), ear_(session_, ear_folder(scale)) {
  listeners_.push_back(one_by_one(kEar, [this](std::span<const float> samples) {
    return decoded(ear_.listen(data::levelled({samples.begin(), samples.end()})));
  }));
  listeners_.push_back(basic_pitch(session_));
  if (is_installed(kPeersNotes)) {
    listeners_.push_back({kSwiftF0, hear_with_swift_f0});
  } else {
    spdlog::info("{}: bench/peers/install.sh {} has not installed it", kSwiftF0, kPeersNotes);
  }
}

eval::MelodyTrack Ears::track(const Sound& sound) const {
  constexpr float kVoiced = 0.5F;
  const auto frames = ear_.listen(data::levelled(sound));
  eval::MelodyTrack track;
  for (int64_t t = 0; t < frames.size(); ++t) {
    track.add(models::ear::frame_s(static_cast<double>(t)), models::ear::frame_hz(frames, t),
              frames.voiced[static_cast<size_t>(t)] >= kVoiced);
  }
  return track;
}

}  // namespace hum::bench::hear
