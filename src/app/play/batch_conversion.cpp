#include "app/play/batch_conversion.h"

#include <chrono>

#include "app/stop.h"
#include "audio/io.h"
#include "audio/notes.h"
#include "base/elapsed.h"
#include "base/error.h"
#include "models/batched_program.h"
#include "pipeline/generate.h"
#include "pipeline/picture.h"

namespace hum::app {
namespace {

// A few full batches, but no more sound than fits in memory.
constexpr int64_t kEnoughWindows = 4 * models::kBatchRows;

}  // namespace

void require_gain(double gain_db, const std::string& hint) {
  if (gain_db >= -60 && gain_db <= 60) return;
  fail(ExitCode::kUsage, fmt::format("--gain {} is outside -60..60", gain_db), hint);
}

void validate(const DeliveryOptions& options, const pipeline::ScoreOptions& score) {
  validate(options.sound);
  if (options.beats_per_bar < 1 || options.beats_per_bar > 32) {
    fail(ExitCode::kUsage, fmt::format("--beats {} is outside 1..32", options.beats_per_bar),
         "--beats 3 for a waltz");
  }
  require_gain(options.gain_db, "--gain 3 makes the melody a little louder than the backing");
  if (options.gain_db != 0 && options.backing.empty()) {
    fail(ExitCode::kUsage, "--gain needs --backing", "add the song with --backing");
  }
  if (options.loop && !options.backing.empty()) {
    fail(ExitCode::kUsage, "--loop and --backing cannot be combined", "use only one of them");
  }
  if (options.loop && score.tempo == "off") {
    fail(ExitCode::kUsage, "--loop needs a tempo to find bars, but --tempo is off", "--tempo auto");
  }
}

std::optional<pipeline::Loop> loop_for(const DeliveryOptions& options,
                                       const pipeline::Score& score) {
  if (!options.loop) return std::nullopt;
  if (!score.tempo) {
    fail(ExitCode::kBadData, "no steady tempo was found, so --loop cannot find bars",
         "give it, such as --tempo 100");
  }
  return pipeline::loop_of(score.notes, *score.tempo, options.beats_per_bar);
}

audio::NoteFileOptions note_file_options(const pipeline::Score& score,
                                         const models::basic_pitch::NoteOptions& notes) {
  return {.tempo_bpm = score.tempo_bpm(),
          .first_beat_s = score.first_beat_s(),
          .multiple_pitch_bends = notes.multiple_pitch_bends,
          .key = score.signature()};
}

void write_melody(const std::filesystem::path& path, const Converter& converter,
                  const pipeline::Score& score, std::span<const audio::Note> notes, bool is_loop) {
  auto settings = note_file_options(score, converter.options().notes);
  settings.program = converter.program();
  if (is_loop) settings.first_beat_s = 0;
  audio::write_notes(path, notes, settings);
}

BatchConversion::BatchConversion(const DeliveryOptions& options, Converter& converter,
                                 const std::optional<audio::AudioBuffer>& backing,
                                 std::vector<OutputPlan> plans,
                                 std::function<void(const Conversion&)> done)
    : options_(options), converter_(converter), backing_(backing), done_(std::move(done)) {
  for (auto& plan : plans) {
    recordings_.emplace_back();
    recordings_.back().plan = std::move(plan);
  }
}

std::exception_ptr BatchConversion::fault_of(const std::function<void()>& work) const {
  try {
    work();
    return nullptr;
  } catch (const Error&) {
    if (stop_signal() == 0) return std::current_exception();
    if (recordings_.size() == 1) throw;
  }
  fail(ExitCode::kFailure, "stopped; the sounds that were finished are kept",
       "run the command again for the others");
}

void BatchConversion::run() {
  for (Conversion& recording : recordings_) {
    recording.fault = fault_of([&] { listen(recording); });
    for (size_t take = 0; !recording.is_done() && take < recording.plan.sounds.size(); ++take) {
      waiting_.push_back({&recording, static_cast<int64_t>(take)});
      windows_ += pipeline::windows_of(recording.hearing.score.notes);
      if (windows_ >= kEnoughWindows) play();
    }
  }
  play();
}

void BatchConversion::listen(Conversion& recording) {
  recording.watch.start();
  recording.hearing =
      converter_.listen(recording.plan.input, recording.watch, backing_.has_value());
  const auto& score = recording.hearing.score;
  recording.loop = loop_for(options_, score);
  recording.played =
      recording.loop ? pipeline::wrap_notes(score.notes, *recording.loop) : score.notes;
}

void BatchConversion::play() {
  if (!waiting_.empty()) play_waiting();
  waiting_.clear();
  windows_ = 0;
  for (; next_ < recordings_.size() && recordings_[next_].is_done(); ++next_) {
    done_(recordings_[next_]);
  }
}

void BatchConversion::play_waiting() {
  const auto start = std::chrono::steady_clock::now();
  std::vector<pipeline::Piece> pieces;
  for (const Take& take : waiting_) {
    pieces.push_back(converter_.piece(take.recording->hearing.score.notes, take.number));
  }
  std::vector<std::vector<float>> sounds;
  const std::exception_ptr fault = fault_of([&] { sounds = converter_.play(pieces); });
  if (fault) {
    for (const Take& take : waiting_) take.recording->fault = fault;
    return;
  }
  const double seconds = seconds_since(start);
  for (size_t i = 0; i < waiting_.size(); ++i) {
    Conversion& recording = *waiting_[i].recording;
    if (recording.fault) continue;
    const auto own = static_cast<double>(pipeline::windows_of(pieces[i].notes));
    recording.watch.add("generate", seconds * own / static_cast<double>(windows_));
    recording.fault = fault_of([&] { deliver(waiting_[i], std::move(sounds[i])); });
  }
}

void BatchConversion::deliver(const Take& take, std::vector<float> samples) {
  Conversion& recording = *take.recording;
  recording.watch.start();
  const OutputPlan& plan = recording.plan;
  const auto number = static_cast<size_t>(take.number);
  const auto& score = recording.hearing.score;
  auto sound = pipeline::finish(std::move(samples), pipeline::end_of(score.notes),
                                {.rate_hz = options_.sound.rate(),
                                 .sound_channels = converter_.channels(),
                                 .channels = options_.sound.channels(),
                                 .loop = recording.loop});
  if (!plan.pictures.empty()) {
    pipeline::write_picture(plan.pictures[number], recording.played, sound);
  }
  if (backing_) sound = pipeline::with_backing(std::move(sound), *backing_, options_.gain_db);
  write_sound(plan.sounds[number], sound, options_.sound.format(), options_.on_stdout);
  if (number + 1 == plan.sounds.size() && !plan.midi.empty()) {
    write_melody(plan.midi, converter_, score, recording.played, recording.loop.has_value());
  }
  recording.takes.push_back({{"output", plan.sounds[number].string()},
                             {"seed", converter_.seed_of(take.number)},
                             {"audio_seconds", sound.seconds()}});
  recording.watch.lap("write");
}

}  // namespace hum::app
