#include "serve/jobs/song_jobs.h"

#include "app/separation/remix.h"
#include "app/separation/separate.h"
#include "audio/notes.h"
#include "audio/notes_json.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "serve/storage/store.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

// What Spleeter alone finds.
constexpr const char* kVocalsAndRest = "vocals,rest";

app::StemOutputOptions stem_outputs(const JobOptions& options, bool finds_six) {
  app::StemOutputOptions outputs;
  outputs.stems = options.stems.empty() && !finds_six ? kVocalsAndRest : options.stems;
  outputs.filename = "{stem}.{ext}";
  outputs.mp3 = options.format == app::SoundFormat::kMp3;
  outputs.flac = options.format == app::SoundFormat::kFlac;
  outputs.int24 = !outputs.mp3 && options.sound.bits == app::Bits::k24;
  outputs.float32 = !outputs.mp3 && options.sound.bits == app::Bits::kFloat;
  return outputs;
}

app::RemixOptions remix_options(const JobOptions& options, const std::string& timbre) {
  app::RemixOptions remix;
  remix.outputs.format = options.format;
  remix.stem = options.stem;
  remix.keep = options.keep;
  remix.gain_db = options.gain_db;
  remix.sound.bits = options.sound.bits;
  remix.part = performance_options(options, timbre, "", kAnyLength_s).conversion;
  remix.listen_hint = R"("task": "separate")";
  return remix;
}

// Whether Spleeter alone is enough.
bool needs_only_vocals(const JobOptions& options, Task task) {
  return task == Task::kRemix
             ? options.stem == "vocals"
             : app::are_only_vocals(app::wanted_stems(stem_outputs(options, /*finds_six=*/false)));
}

void require_songs_format(const app::SoundOptions& sound) {
  const app::SoundOptions usual;
  if (sound.rate_hz == usual.rate_hz && sound.stereo == usual.stereo) return;
  fail(ExitCode::kUsage, "rate and stereo do not apply: a song keeps its rate and channels",
       "leave them out");
}

}  // namespace

void validate_song_job(const JobOptions& options, const JobRequest& request) {
  require_songs_format(options.sound);
  if (options.takes != 1 || options.loop) {
    fail(ExitCode::kUsage, "a job on a song has one take and is no loop",
         "leave out takes and loop");
  }
  if (request.task == Task::kSeparate) {
    app::wanted_stems(stem_outputs(options, /*finds_six=*/true));
    if (options.format != app::SoundFormat::kOgg) return;
    fail(ExitCode::kUsage, "stems are written as wav, flac or mp3",
         "ask for the result vocals.ogg later: it is made of vocals.wav");
  }
  app::validate(remix_options(options, request.timbre));
}

std::vector<std::string> stems_found(const app::StemModelOptions& models) {
  const auto [has_own, has_spleeter] = app::installed_stem_models(models);
  std::vector<std::string> names;
  if (!has_own && !has_spleeter) return names;
  for (const app::WantedStem& stem : app::wanted_stems(stem_outputs({}, has_own))) {
    names.push_back(stem.name);
  }
  return names;
}

void require_stem_models(const JobOptions& options, Task task,
                         const app::StemModelOptions& models) {
  const auto [has_own, has_spleeter] = app::installed_stem_models(models);
  if (has_own || (has_spleeter && needs_only_vocals(options, task))) return;
  if (has_spleeter) {
    fail(ExitCode::kUsage, "this service finds no other stem than the vocals and the rest",
         "those who run it can train a model of six stems: hum train separator");
  }
  fail(ExitCode::kUsage, "this service has no model that finds the stems of a song",
       "those who run it can install one that finds the vocals: make fetch-spleeter");
}

int64_t least_bytes(const JobOptions& options, Task task, int64_t song_bytes, bool finds_six) {
  if (task == Task::kRemix) return 2 * song_bytes;
  return song_bytes * std::ssize(app::wanted_stems(stem_outputs(options, finds_six)));
}

void require_room(int64_t bytes, const fs::space_info& disk) {
  const auto needed = static_cast<uintmax_t>(bytes);
  if (needed > disk.capacity) {
    fail(
        ExitCode::kUsage,
        fmt::format("the job needs {} on the disk, more than the service has", format_bytes(bytes)),
        "send a shorter song, or name fewer stems");
  }
  if (needed > disk.available) {
    fail(ExitCode::kCannotCreate,
         fmt::format("the job needs {} on the disk, {} are free", format_bytes(bytes),
                     format_bytes(static_cast<int64_t>(disk.available))));
  }
}

std::vector<app::PerformedFile> separate_stems(const JobOptions& options, const fs::path& song,
                                               app::SharedStemModels& models,
                                               const fs::path& folder,
                                               const app::PerformanceEvents& events) {
  app::SeparateOptions separated;
  separated.inputs = {song.string()};
  separated.outputs = stem_outputs(options, app::installed_stem_models(models.options()).has_own);
  separated.outputs.output = folder.string();
  separated.outputs.overwrite = true;  // of an attempt that was cut off
  separated.models = models.get();
  separated.max_seconds = kAnyLength_s;
  std::vector<app::PerformedFile> files;
  const auto list = [&](const app::SeparatedFile& done) {
    for (const app::WantedStem& stem : app::wanted_stems(separated.outputs)) {
      files.push_back({stem.name + "." + separated.outputs.extension(),
                       done.report.at("seconds").get<double>()});
    }
  };
  app::separate(separated, list, events.progress);
  return files;
}

std::vector<app::PerformedFile> remix_song(const JobOptions& options, const fs::path& song,
                                           const std::string& timbre,
                                           app::SharedStemModels& stem_models,
                                           const std::shared_ptr<app::LoadedModels>& models,
                                           const fs::path& folder,
                                           const app::PerformanceEvents& events) {
  const std::string name = fmt::format("remix.{}", to_name(options.format));
  app::RemixOptions remix = remix_options(options, timbre);
  remix.input = song.string();
  remix.outputs.output = (folder / name).string();
  remix.outputs.midi = (folder / "melody.mid").string();
  remix.part.weights = stem_models.options().weights;
  remix.stem_models = stem_models.get();
  const Json report = app::remix(remix, events, models);
  audio::write_notes(folder / "melody.json", audio::notes_from_json(report["notes"], "notes"));
  return {{name, report["audio_seconds"].get<double>()}, {"melody.mid", 0}, {"melody.json", 0}};
}

}  // namespace hum::serve
