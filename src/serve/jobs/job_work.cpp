#include "serve/jobs/job_work.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "audio/io.h"
#include "base/error.h"
#include "base/files.h"
#include "serve/jobs/song_jobs.h"
#include "serve/jobs/source_format.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

std::string replaced(std::string text, const std::string& path, const std::string& name) {
  if (path.empty()) return text;
  for (size_t at = text.find(path); at != std::string::npos; at = text.find(path, at)) {
    text.replace(at, path.size(), name);
  }
  return text;
}

// The stream of a job, for writing. An earlier attempt may have left a part of it: the same seeds
// give the same bytes, so writing over them changes nothing for those who read it.
class StreamFile {
 public:
  explicit StreamFile(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) handle_ = ::fdopen(file, "r+b");
    if (handle_ != nullptr) return;
    fail(ExitCode::kCannotCreate,
         fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  }
  ~StreamFile() { std::fclose(handle_); }
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;

  std::FILE* handle() const { return handle_; }
  int64_t bytes() const { return std::ftell(handle_); }
  void cut_here() {
    std::fflush(handle_);
    HUM_REQUIRE(::ftruncate(::fileno(handle_), std::ftell(handle_)) == 0,
                "the stream cannot be cut");
  }

 private:
  std::FILE* handle_ = nullptr;
};

}  // namespace

std::string_view media_type(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTypes = {
      {{".wav", "audio/wav"},
       {".flac", "audio/flac"},
       {".ogg", "audio/ogg"},
       {".mp3", "audio/mpeg"},
       {".mid", "audio/midi"},
       {".csv", "text/csv"},
       {".json", "application/json"},
       {".zip", "application/zip"}}};
  for (const auto& [extension, type] : kTypes) {
    if (name.ends_with(extension)) return type;
  }
  return "application/octet-stream";
}

JobWork::JobWork(Records& records, Store& store, Estimates& estimates,
                 const std::shared_ptr<app::LoadedModels>& models,
                 app::SharedStemModels& stem_models, const Job& job, const Lease& lease,
                 Report report)
    : records_(records),
      store_(store),
      estimates_(estimates),
      models_(models),
      stem_models_(stem_models),
      job_(job),
      lease_(lease),
      report_(std::move(report)),
      folder_(store.aside() / fmt::format("{}-{}", lease.job, lease.attempt)) {}

JobWork::~JobWork() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path JobWork::sound_of(const std::string& upload, const char* what) const {
  if (upload.empty()) return {};
  if (const auto path = store_.find(upload_key(upload))) return *path;
  fail(ExitCode::kBadData, fmt::format("{} is gone", what), "upload it again");
}

app::MelodySource JobWork::source() {
  app::MelodySource source;
  const JobRequest& request = job_.request;
  if (!request.notes.is_null()) {
    source.notes = parse_given_notes(request.notes, kAnyLength_s);
    return source;
  }
  const fs::path path = sound_of(request.upload, "the recording");
  const auto upload = records_.any_upload(request.upload);
  if (!upload) fail(ExitCode::kBadData, "the recording is gone", "upload it again");
  source.recording = pipeline::checked_recording(audio::read_audio(path, kAnyLength_s),
                                                 source_format_of(upload->source), "the recording");
  return source;
}

void JobWork::report(std::string_view stage, double done) {
  constexpr int64_t kHeaderBytes = 44;
  const bool has_sound = stream_bytes_ > kHeaderBytes;
  const Task task = job_.request.task;
  const bool is_awaited = !has_sound && (task == Task::kGenerate || task == Task::kNotes);
  report_({stage, done, is_awaited, stream_bytes_});
}

Json JobWork::run() {
  const JobRequest& request = job_.request;
  const bool is_song = hears_song(request.task);
  const std::string song = is_song ? sound_of(request.upload, "the song").string() : "";
  const std::string timbre = sound_of(request.timbre, "the timbre").string();
  const std::string backing = sound_of(request.backing, "the backing").string();
  create_folder(folder_);
  try {
    const auto options = parse_job_options(request.options, request.task);
    return store_results(is_song ? perform_song(options, song, timbre)
                                 : perform_melody(options, timbre, backing));
  } catch (const Error& error) {
    const std::pair<std::string, std::string> names[] = {{song, "the song"},
                                                         {timbre, "the timbre"},
                                                         {backing, "the backing"},
                                                         {folder_.string() + "/", ""}};
    const auto named = [&](std::string text) {
      for (const auto& [path, name] : names) text = replaced(std::move(text), path, name);
      return text;
    };
    fail(error.code(), named(with_field_names(error.message())), named(hint_for_callers(error)));
  }
}

app::PerformanceEvents JobWork::events() {
  return {.heard =
              [this](const Json& heard) {
                // A lost lease shows at the next report.
                records_.set_heard(lease_, heard);
              },
          .progress = [this](std::string_view stage, double done) { report(stage, done); }};
}

std::vector<app::PerformedFile> JobWork::perform_song(const JobOptions& options,
                                                      const fs::path& song,
                                                      const std::string& timbre) {
  const Task task = job_.request.task;
  require_stem_models(options, task, stem_models_.options());
  const auto upload = records_.any_upload(job_.request.upload);
  if (!upload) fail(ExitCode::kBadData, "the song is gone", "upload it again");
  const bool finds_six = app::installed_stem_models(stem_models_.options()).has_own;
  require_room(least_bytes(options, task, upload->bytes, finds_six), fs::space(folder_));
  const double played_s = task == Task::kRemix ? upload->seconds : 0;
  estimates_.begin({.heard_s = played_s,
                    .played_s = played_s,
                    .has_lm = options.play.lm,
                    .separated_s = upload->seconds});
  report("separate", 0);  // loading the models is a part of it
  if (task == Task::kSeparate) {
    return separate_stems(options, song, stem_models_, folder_, events());
  }
  return remix_song(options, song, timbre, stem_models_, models_, folder_, events());
}

std::vector<app::PerformedFile> JobWork::perform_melody(const JobOptions& options,
                                                        const std::string& timbre,
                                                        const std::string& backing) {
  const Task task = job_.request.task;
  const auto melody = source();
  const bool is_heard = melody.recording.has_value();
  const double melody_s = is_heard ? melody.recording->seconds
                                   : std::ranges::max(melody.notes, {}, &audio::Note::end_s).end_s;
  const double played_s = task == Task::kNotes ? 0 : melody_s * static_cast<double>(options.takes);
  estimates_.begin({is_heard ? melody_s : 0, played_s, options.play.lm});
  auto performed = performance_options(options, timbre, backing, kAnyLength_s);
  performed.starts_early = !records_.any_due();
  if (task == Task::kNotes) {
    return app::perform_notes(performed, melody, *models_, folder_, events());
  }
  if (task == Task::kArrange) {
    return app::perform_arrangement(performed, melody, models_, folder_, events());
  }
  return perform_with_stream(performed, melody, events());
}

std::vector<app::PerformedFile> JobWork::perform_with_stream(const app::PerformanceOptions& options,
                                                             const app::MelodySource& source,
                                                             const app::PerformanceEvents& events) {
  StreamFile stream(store_.growing(result_key(lease_.job, kStreamName)));
  bool is_cut = false;
  app::PerformanceEvents followed = events;
  followed.progress = [&](std::string_view stage, double done) {
    stream_bytes_ = stream.bytes();
    // Readers take the stream for whole when the stage is "write".
    if (stage == "write" && !is_cut) stream.cut_here();
    is_cut = is_cut || stage == "write";
    events.progress(stage, done);
  };
  return app::perform_takes(options, source, models_, folder_, stream.handle(), followed);
}

Json JobWork::store_results(const std::vector<app::PerformedFile>& files) {
  Json results = Json::array();
  for (const auto& [name, seconds] : files) {
    const fs::path file = folder_ / name;
    results.push_back({{"name", name},
                       {"type", media_type(name)},
                       {"bytes", fs::file_size(file)},
                       {"seconds", seconds > 0 ? Json(seconds) : Json()}});
    store_.put(result_key(lease_.job, name), file);
  }
  return results;
}

}  // namespace hum::serve
