#include "serve/client/client_options.h"

#include <algorithm>

#include "audio/io.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "base/names.h"
#include "base/process.h"

namespace hum::serve {
namespace {

Output output_of(const ClientOptions& options) {
  Output output{.path = options.output};
  if (is_standard_stream(output.path)) {
    fail(ExitCode::kUsage, "-o - is not a file or a folder", "--stream writes the sound to stdout");
  }
  const std::string extension = audio::extension_of(output.path);
  if (extension == ".zip") {
    output.result = "all.zip";
  } else if (extension == ".mid" && options.task == Task::kArrange) {
    output.result = "arrangement.mid";
  } else if (extension == ".mid" || extension == ".csv" || extension == ".json") {
    output.result = "melody" + extension;
  } else if (std::ranges::find(app::kSoundExtensions, extension) == app::kSoundExtensions.end()) {
    output.is_folder = true;
  }
  output.is_folder = output.is_folder || is_folder(output.path);
  return output;
}

// The options that were changed, with the format that the output's extension asks for.
Json sent_options(JobOptions options, const std::optional<Output>& output) {
  if (output && !output->is_folder && output->result.empty()) {
    options.format = from_name<app::SoundFormat>(audio::extension_of(output->path).substr(1));
  }
  JobOptions usual = unsent_options();
  const Json given = hum::to_json(options), unsent = hum::to_json(usual);
  Json sent = Json::object();
  for (const auto& [name, value] : given.items()) {
    if (value != unsent[name]) sent[name] = value;
  }
  return sent;
}

// Before anything is sent: what the server would refuse after the upload.
void check(const ClientOptions& options, const std::optional<Output>& output, const Json& sent) {
  const bool is_sound_file = output && !output->is_folder && output->result.empty();
  if (options.task == Task::kArrange && output && output->result.starts_with("melody")) {
    fail(ExitCode::kUsage, "an arrangement has no such file of notes",
         "-o band.mid writes its MIDI file, -o band/ all of it into a folder");
  }
  if (options.task == Task::kNotes && (options.stream || is_sound_file)) {
    fail(ExitCode::kUsage, "the task notes makes no sound", "-o melody.mid, .csv or .json");
  }
  const bool makes_stems = options.task == Task::kSeparate;
  if (makes_stems && output && !output->is_folder && output->result != "all.zip") {
    fail(ExitCode::kUsage, "the stems of a song do not fit into one file",
         "-o stems/ writes all into a folder, -o stems.zip into one archive");
  }
  if (options.stream && options.task != Task::kGenerate) {
    fail(ExitCode::kUsage, "only the task generate has a stream", "leave out --stream");
  }
  if (is_sound_file && options.job.takes > 1) {
    fail(ExitCode::kUsage, fmt::format("{} takes do not fit into one file", options.job.takes),
         "-o takes/ writes all into a folder");
  }
  const bool plays = options.task != Task::kNotes && !makes_stems;
  if (plays && options.job.preset.empty() && options.timbre.empty()) {
    fail(ExitCode::kUsage, "neither --preset nor --timbre was given",
         "--preset violin; 'hum presets' lists all");
  }
  JobRequest request;
  request.task = options.task;
  request.timbre = options.timbre;
  request.backing = options.backing;
  validate(parse_job_options(sent, options.task), request);
}

}  // namespace

ClientRequest checked_request(const ClientOptions& options) {
  ClientRequest request;
  if (!options.output.empty()) request.output = output_of(options);
  request.options = sent_options(options.job, request.output);
  check(options, request.output, request.options);
  return request;
}

}  // namespace hum::serve
