#include "pipeline/play.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"
#include "pipeline/render_plan.h"

namespace hum::pipeline {
namespace {

static_assert(kWindowFrames == data::kItemFrames, "models are trained on windows of this length");

int64_t frames_of(std::span<const audio::Note> notes) {
  return static_cast<int64_t>(std::ceil((end_of(notes) + kMaxRelease_s) * data::kFramesPerSecond));
}

// A piece in progress: its model inputs, and the results so far.
class Playing {
 public:
  Playing(std::span<const audio::Note> notes, uint64_t seed, const Instrument& instrument,
          bool streams)
      : frames_(frames_of(notes)),
        windows_(kLatentWindows.windows(frames_)),
        quick_(streams && frames_ > instrument.quick_frames ? instrument.quick_frames : 0),
        steps_(plan_rendering(frames_, quick_)),
        seed_(seed),
        latent_(instrument.latent),
        row_samples_(data::kFrameSamples * instrument.channels),
        latents_(frames_, latent_, kLatentWindows.fade_frames),
        sound_(frames_, row_samples_, kRenderFade) {
    // Features continue past the end to the edge of the last window, whose frames are silence, not
    // zeros.
    const int64_t padded =
        std::max(kLatentWindows.first_frame(windows_ - 1), steps_.back().first_frame) +
        kWindowFrames;
    melody_ = data::melody_features(notes, padded, data::kAllMelodyFeatures);
    excitation_.resize(static_cast<size_t>(padded * data::kFrameSamples));
    noise_.resize(excitation_.size());
    data::render_excitation(notes, excitation_, instrument.excitation_tail_s);
    data::render_noise(seed, 0, noise_);
  }

  int64_t windows() const { return windows_; }
  // Frames of the first window to request before the whole window; 0: none.
  int64_t quick() const { return quick_; }
  const std::vector<RenderStep>& steps() const { return steps_; }

  LatentWindow told(int64_t window, int64_t frames) const {
    return {cut(melody_, data::kAllMelodyFeatures, kLatentWindows.first_frame(window)), seed_,
            window, frames};
  }
  // The latents of a window, or of its quick part (`after`: see RenderStep).
  void take(int64_t after, const std::vector<float>& latents) {
    const int64_t window = std::max<int64_t>(0, after);
    latents_.add(kLatentWindows.first_frame(window), latents, kLatentWindows.fade_start(window));
    for (const RenderStep& step : steps_) {
      if (step.after == after) known_[step.keep_from] = known_latents(step);
    }
  }
  // A step sees what was known when it became possible, also if it runs later. Latents after that
  // are beyond its context, but the renderer's FFT computes two frames at once, so that a distant
  // frame changes rounding: a stream and a file would differ in their last bits.
  SoundWindow told(const RenderStep& step) {
    const int64_t first = step.first_frame;
    auto known = known_.extract(step.keep_from);
    return {known.empty() ? known_latents(step) : std::move(known.mapped()),
            cut(melody_, data::kAllMelodyFeatures, first),
            cut(excitation_, data::kFrameSamples, first), cut(noise_, data::kFrameSamples, first)};
  }
  void take(const RenderStep& step, const std::vector<float>& samples) {
    sound_.add(step.first_frame, samples, step.keep_from);
  }
  std::span<const float> sound(int64_t from_frame, int64_t to_frame) const {
    return std::span(sound_.table())
        .subspan(static_cast<size_t>(from_frame * row_samples_),
                 static_cast<size_t>((to_frame - from_frame) * row_samples_));
  }
  std::vector<float> take_sound() && { return std::move(sound_).take(); }

 private:
  std::vector<float> known_latents(const RenderStep& step) const {
    return cut(latents_.table(), latent_, step.first_frame);
  }
  static std::vector<float> cut(const std::vector<float>& table, int64_t width, int64_t first) {
    return cut_rows(table, width, first, kWindowFrames);
  }

  int64_t frames_, windows_, quick_;
  std::vector<RenderStep> steps_;
  uint64_t seed_;
  int64_t latent_, row_samples_;  // row_samples: samples of a frame, all channels
  Stitcher latents_, sound_;
  std::map<int64_t, std::vector<float>> known_;  // latents of steps to come, by keep_from
  std::vector<float> melody_, excitation_, noise_;
};

// Counts windows for Instrument::progress.
class Count {
 public:
  Count(const Instrument& instrument, int64_t total) : instrument_(instrument), total_(total) {}
  void advance() {
    if (instrument_.progress) instrument_.progress(++done_, total_);
  }

 private:
  const Instrument& instrument_;
  int64_t done_ = 0, total_;
};

// A piece's window or rendering step.
template <typename What>
struct Task {
  Playing* piece;
  What what;
};

// Runs all tasks in as few calls of at most `together` as possible, of about equal size. Pieces
// take their results in order.
template <typename What, typename Tell, typename Run>
void run_together(std::span<const Task<What>> tasks, int64_t together, const Tell& tell,
                  const Run& run, Count& count) {
  using Told = decltype(tell(tasks[0]));
  for (int64_t calls = (std::ssize(tasks) + together - 1) / together; calls > 0; --calls) {
    const auto part = tasks.first(static_cast<size_t>((std::ssize(tasks) + calls - 1) / calls));
    std::vector<Told> told;
    for (const auto& task : part) told.push_back(tell(task));
    const auto results = run(std::span<const Told>(told));
    HUM_REQUIRE(results.size() == part.size(), "play: {} results of {} windows", results.size(),
                part.size());
    for (size_t i = 0; i < part.size(); ++i) {
      part[i].piece->take(part[i].what, results[i]);
      count.advance();
    }
    tasks = tasks.subspan(part.size());
  }
}

}  // namespace

double end_of(std::span<const audio::Note> notes) {
  double end_s = 0;
  for (const auto& note : notes) end_s = std::max(end_s, note.end_s);
  return end_s;
}

int64_t windows_of(std::span<const audio::Note> notes) {
  return kLatentWindows.windows(frames_of(notes));
}

std::vector<std::vector<float>> play(std::span<const Piece> pieces, const Instrument& instrument) {
  std::vector<std::unique_ptr<Playing>> all;
  std::vector<Task<int64_t>> windows;
  std::vector<Task<RenderStep>> steps;
  for (const Piece& piece : pieces) {
    HUM_REQUIRE(!piece.notes.empty(), "play: no notes");
    all.push_back(std::make_unique<Playing>(piece.notes, piece.seed, instrument, false));
    Playing* playing = all.back().get();
    for (int64_t w = 0; w < playing->windows(); ++w) windows.push_back({playing, w});
    for (const RenderStep& step : playing->steps()) steps.push_back({playing, step});
  }
  const int64_t together = std::ssize(windows) < instrument.together ? 1 : instrument.together;
  Count count(instrument, std::ssize(windows) + std::ssize(steps));
  run_together(
      std::span<const Task<int64_t>>(windows), together,
      [](const auto& task) { return task.piece->told(task.what, kWindowFrames); },
      instrument.latents, count);
  run_together(
      std::span<const Task<RenderStep>>(steps), together,
      [](const auto& task) { return task.piece->told(task.what); }, instrument.render, count);
  std::vector<std::vector<float>> sounds;
  for (size_t i = 0; i < pieces.size(); ++i) {
    sounds.push_back(std::move(*all[i]).take_sound());
    Decay(pieces[i].notes, instrument.decay_db).apply(sounds[i], 0, instrument.channels);
  }
  return sounds;
}

std::vector<float> play(std::span<const audio::Note> notes, const Instrument& instrument,
                        uint64_t seed) {
  const Piece piece{{notes.begin(), notes.end()}, seed};
  return std::move(play(std::span(&piece, 1), instrument)[0]);
}

namespace {

// Plays one piece window by window. `whole`: also joins the parts as play() does.
class Streaming {
 public:
  Streaming(std::span<const audio::Note> notes, const Instrument& instrument, uint64_t seed,
            const SampleSink& sink, Stitcher* whole)
      : piece_(notes, seed, instrument, true),
        instrument_(instrument),
        decay_(notes, instrument.decay_db),
        sink_(sink),
        whole_(whole),
        plain_(whole != nullptr ? plan_rendering(frames_of(notes), 0) : std::vector<RenderStep>()),
        count_(instrument, piece_.windows() + (piece_.quick() > 0 ? 1 : 0) +
                               std::ssize(piece_.steps()) + (piece_.quick() > 0 ? extra() : 0)) {}

  const Decay& decay() const { return decay_; }

  void run() {
    for (int64_t w = piece_.quick() > 0 ? -1 : 0; w < piece_.windows(); ++w) {
      const int64_t window = std::max<int64_t>(0, w);
      const LatentWindow asked = piece_.told(window, w < 0 ? piece_.quick() : kWindowFrames);
      piece_.take(w, instrument_.latents(std::span(&asked, 1))[0]);
      count_.advance();
      render(w);
    }
  }

 private:
  std::vector<float> rendered(const RenderStep& step) {
    const SoundWindow told = piece_.told(step);
    auto samples = std::move(instrument_.render(std::span(&told, 1))[0]);
    count_.advance();
    return samples;
  }
  // The steps that do not follow from those of the stream.
  int64_t extra() const {
    return std::ranges::count_if(plain_, [&](const RenderStep& step) {
      return std::ranges::find(piece_.steps(), step) == piece_.steps().end();
    });
  }
  void render(int64_t w) {
    for (const RenderStep& step : piece_.steps()) {
      if (step.after != w) continue;
      const auto samples = rendered(step);
      piece_.take(step, samples);
      const auto part = piece_.sound(step.keep_from, step.keep_to);
      std::vector<float> sound(part.begin(), part.end());
      decay_.apply(sound, step.keep_from * data::kFrameSamples, instrument_.channels);
      sink_(sound);
      if (std::ranges::find(plain_, step) != plain_.end()) keep(step, samples);
    }
    for (const RenderStep& step : plain_) {
      const bool is_streamed = std::ranges::find(piece_.steps(), step) != piece_.steps().end();
      if (step.after == w && !is_streamed) keep(step, rendered(step));
    }
  }
  void keep(const RenderStep& step, const std::vector<float>& samples) {
    whole_->add(step.first_frame, samples, step.keep_from);
  }

  Playing piece_;
  const Instrument& instrument_;
  Decay decay_;
  const SampleSink& sink_;
  Stitcher* whole_;
  std::vector<RenderStep> plain_;  // those of play(); empty without `whole`
  Count count_;
};

}  // namespace

void play(std::span<const audio::Note> notes, const Instrument& instrument, uint64_t seed,
          const SampleSink& sink) {
  HUM_REQUIRE(!notes.empty(), "play: no notes");
  Streaming(notes, instrument, seed, sink, nullptr).run();
}

std::vector<float> play_and_keep(std::span<const audio::Note> notes, const Instrument& instrument,
                                 uint64_t seed, const SampleSink& sink) {
  HUM_REQUIRE(!notes.empty(), "play: no notes");
  Stitcher whole(frames_of(notes), data::kFrameSamples * instrument.channels, kRenderFade);
  Streaming streaming(notes, instrument, seed, sink, &whole);
  streaming.run();
  auto sound = std::move(whole).take();
  streaming.decay().apply(sound, 0, instrument.channels);
  return sound;
}

}  // namespace hum::pipeline
