#include <algorithm>
#include <array>
#include <utility>

#include "audio/notes_json.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/names.h"
#include "serve/api/incoming_impl.h"
#include "serve/jobs/song_jobs.h"
#include "serve/jobs/source_format.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

constexpr double kMinTimbre_s = 1;
// Of JSON in requests. Notes need 4.
constexpr int kMostLevels = 32;

// Deep JSON would overflow the stack of whoever prints it.
bool is_deep(std::string_view text) {
  int level = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++level > kMostLevels) return true;
    } else if (c == ']' || c == '}') {
      --level;
    }
  }
  return false;
}

constexpr const char* kBodyExample = R"({"upload": ID, "options": {"preset": "flute"}})";
constexpr const char* kOptionsExample = R"({"preset": "flute", "lm": true, "takes": 2})";
constexpr const char* kNotesExample = R"([{"start": 0, "end": 0.5, "pitch": 60}])";

Json parse_sent_json(const std::string& text, const std::string& what, const char* example) {
  if (is_deep(text)) {
    fail(ExitCode::kUsage, fmt::format("{}: JSON with more than {} levels", what, kMostLevels),
         example);
  }
  Json json = try_parse_json(text);
  if (!json.is_discarded()) return json;
  fail(ExitCode::kUsage, what + ": is not valid JSON", example);
}

[[noreturn]] void refuse_field(const std::string& name, std::vector<std::string> known) {
  const auto nearest = nearest_names(name, std::move(known), 1);
  fail(ExitCode::kUsage, fmt::format("there is no field '{}'", name),
       fmt::format("the nearest one is '{}'; how to play belongs into the field options, such as "
                   "{{\"preset\": \"flute\"}}",
                   nearest[0]));
}

// "the recording: is silent" reads better without the colon.
std::string as_sentence(const std::string& message, const std::string& name) {
  const std::string clumsy = name + ": is ";
  return message.starts_with(clumsy) ? name + message.substr(name.size() + 1) : message;
}

bool is_form(const Request& request) {
  return !request.parts.empty() ||
         request.headers.get("Content-Type").starts_with("multipart/form-data");
}

}  // namespace

Incoming::Incoming(Store& store, LongWork& decoders, const ApiOptions& options, std::string caller)
    : store_(store), decoders_(decoders), options_(options) {
  job_.id = new_id();
  job_.caller = std::move(caller);
}

Incoming::~Incoming() {
  if (is_kept_) return;
  for (const Upload& upload : uploads_) store_.remove(upload_key(upload.id));
}

void Incoming::read(Request& request) {
  if (is_form(request)) {
    read_form(request);
  } else if (!request.body.empty()) {  // the route lets only JSON in
    read_json(request);
    check();
  } else {
    fail(ExitCode::kUsage, "the request has no body, neither a form nor JSON", kBodyExample);
  }
}

void Incoming::read_field(const std::string& name, const std::string& text) {
  if (name == "task") {
    job_.task = parse_name<Task>(text, ExitCode::kUsage, "task");
  } else if (name == "upload") {
    job_.upload = text;
  } else if (name == "timbre") {
    job_.timbre = text;
  } else if (name == "backing") {
    job_.backing = text;
  } else if (name == "options") {
    given_options_ = parse_sent_json(text, "options", kOptionsExample);
  } else {
    HUM_CHECK(name == "notes", "the route lets no other part in, such as {}", name);
    job_.notes = parse_sent_json(text, "notes", kNotesExample);
  }
}

void Incoming::read_json(const Request& request) {
  const Json body = parse_sent_json(request.body, "the body", kBodyExample);
  if (!body.is_object()) {
    fail(ExitCode::kUsage, fmt::format("the body is not an object but {}", body.type_name()),
         kBodyExample);
  }
  for (const auto& [name, value] : body.items()) {
    if (name == "options") {
      given_options_ = value;
    } else if (name == "notes") {
      job_.notes = value;
    } else if (name == "upload" || name == "timbre" || name == "backing" || name == "task") {
      if (value.is_null()) continue;
      if (!value.is_string()) fail(ExitCode::kUsage, name + ": is not a text");
      read_field(name, value.get<std::string>());
    } else {
      refuse_field(name, {"upload", "timbre", "backing", "task", "notes", "options"});
    }
  }
}

Upload Incoming::decode(const fs::path& file, const std::string& name) {
  Upload upload{.id = new_id(), .caller = job_.caller};
  const fs::path wav = store_.aside() / (upload.id + ".wav");
  decode::DecodeLimits limits{.mono = name != "backing" && name != "song",
                              .max_seconds = options_.max_seconds,
                              .name = "the " + (name == "audio" ? std::string("recording") : name),
                              .program = options_.decoder};
  if (name == "timbre") limits.min_seconds = kMinTimbre_s;
  const LongWork::Permit turn = decoders_.begin();
  decode::Decoded decoded;
  try {
    decoded = decode::decode_confined(file, wav, limits);
  } catch (const Error& error) {
    fail(error.code(), as_sentence(error.message(), limits.name), hint_for_callers(error));
  }
  upload.seconds = decoded.seconds;
  upload.source = to_json(decoded.source);
  upload.bytes = static_cast<int64_t>(fs::file_size(wav));
  upload.created_ms = now_ms();
  upload.expires_ms = upload.created_ms + options_.keep_uploads.count();
  uploads_.push_back(upload);  // from here on it is removed unless it is kept
  store_.put(upload_key(upload.id), wav);
  return upload;
}

void Incoming::read_form(Request& request) {
  std::vector<Part*> files;
  const std::array<std::pair<std::string_view, std::string*>, 3> sounds = {
      {{"audio", &job_.upload}, {"timbre", &job_.timbre}, {"backing", &job_.backing}}};
  const auto place_of = [&](const Part& part) {
    return std::ranges::find(sounds, part.name, &std::pair<std::string_view, std::string*>::first);
  };
  for (Part& part : request.parts) {
    if (part.file.empty()) {
      read_field(part.name, part.text);
      continue;
    }
    const auto found = place_of(part);
    if (!found->second->empty()) {
      fail(ExitCode::kUsage, "there is audio, and an upload too", "send only one of them");
    }
    *found->second = "to be decoded";
    files.push_back(&part);
  }
  check();  // before the long work
  for (Part* part : files) {
    const bool is_song = part->name == "audio" && hears_song(job_.task);
    Upload upload = decode(part->file.path(), is_song ? "song" : part->name);
    *place_of(*part)->second = upload.id;
  }
}

void Incoming::check() {
  if (!job_.notes.is_null()) {
    const auto notes = parse_given_notes(job_.notes, options_.max_seconds);
    job_.notes = audio::to_json(std::span(notes));
  } else if (job_.upload.empty()) {
    fail(ExitCode::kUsage, "there is nothing to hear: neither audio, nor an upload, nor notes",
         "send the recording as the part 'audio', or the id of an upload as 'upload'");
  }
  auto options = parse_job_options(given_options_, job_.task);
  validate(options, job_);
  if (hears_song(job_.task)) {
    require_stem_models(options, job_.task,
                        {.weights = options_.weights, .spleeter = options_.spleeter});
  }
  job_.options = hum::to_json(options);
}

}  // namespace hum::serve
