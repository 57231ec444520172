// The part of the API that takes sounds and jobs in.
#include <algorithm>
#include <array>
#include <utility>

#include "audio/notes_json.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "base/names.h"
#include "serve/api/api_impl.h"
#include "serve/jobs/job_options.h"
#include "serve/jobs/source_format.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

constexpr int kRetryAfterFullQueue_s = 10;
constexpr double kMinTimbre_s = 1;
constexpr size_t kMostKeyBytes = 255;
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
constexpr const char* kOptionsExample = R"({"preset": "flute", "takes": 2})";
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

std::optional<IdempotencyKey> key_of(const Request& request) {
  const auto key = request.headers.find("Idempotency-Key");
  if (!key) return std::nullopt;
  if (key->empty() || key->size() > kMostKeyBytes) {
    fail(ExitCode::kUsage,
         fmt::format("Idempotency-Key: 1 to {} characters are accepted", kMostKeyBytes),
         "send a random name for each new request");
  }
  std::string all = request.method + ' ' + request.route + '\n';
  all += request.body;
  for (const Part& part : request.parts) {
    all += fmt::format("\n{} {} ", part.name, part.size_bytes) +
           (part.sha256.empty() ? part.text : part.sha256);
  }
  return IdempotencyKey{std::string(*key), sha256(all)};
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

Response over_quota(const ReachedLimit& limit) {
  Response refused = problem(429, limit.detail, Json{{"hint", limit.hint}, {"limit", limit.name}});
  refused.headers.set("Retry-After", std::to_string(limit.retry_after_s));
  return refused;
}

bool is_form(const Request& request) {
  return !request.parts.empty() ||
         request.headers.get("Content-Type").starts_with("multipart/form-data");
}

}  // namespace

struct Api::Incoming {
  Store& store;
  JobRequest job;
  Json options = Json::object();
  std::vector<Upload> own;
  bool is_kept = false;

  Incoming(Store& place, std::string caller) : store(place) {
    job.id = new_id();
    job.caller = std::move(caller);
  }
  // Sounds of a request that was refused.
  ~Incoming() {
    for (const Upload& upload : own) {
      if (!is_kept) store.remove(upload_key(upload.id));
    }
  }
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;
};

void Api::read_field(const std::string& name, const std::string& text, Incoming& incoming) const {
  if (name == "task") {
    incoming.job.task = parse_name<Task>(text, ExitCode::kUsage, "task");
  } else if (name == "upload") {
    incoming.job.upload = text;
  } else if (name == "options") {
    incoming.options = parse_sent_json(text, "options", kOptionsExample);
  } else {
    HUM_CHECK(name == "notes", "the route lets no other part in, such as {}", name);
    incoming.job.notes = parse_sent_json(text, "notes", kNotesExample);
  }
}

void Api::read_json(const Request& request, Incoming& incoming) const {
  const Json body = parse_sent_json(request.body, "the body", kBodyExample);
  if (!body.is_object()) {
    fail(ExitCode::kUsage, fmt::format("the body is not an object but {}", body.type_name()),
         kBodyExample);
  }
  for (const auto& [name, value] : body.items()) {
    if (name == "options") {
      incoming.options = value;
    } else if (name == "notes") {
      incoming.job.notes = value;
    } else if (name == "upload" || name == "timbre" || name == "backing" || name == "task") {
      if (value.is_null()) continue;
      if (!value.is_string()) fail(ExitCode::kUsage, name + ": is not a text");
      const auto text = value.get<std::string>();
      if (name == "timbre") {
        incoming.job.timbre = text;
      } else if (name == "backing") {
        incoming.job.backing = text;
      } else {
        read_field(name, text, incoming);
      }
    } else {
      refuse_field(name, {"upload", "timbre", "backing", "task", "notes", "options"});
    }
  }
}

Upload Api::decode(const fs::path& file, const std::string& name, const std::string& caller,
                   Incoming& incoming) {
  Upload upload{.id = new_id(), .caller = caller};
  const fs::path wav = store_.aside() / (upload.id + ".wav");
  DecodeLimits limits{.mono = name != "backing",
                      .max_seconds = options_.max_seconds,
                      .name = "the " + (name == "audio" ? std::string("recording") : name),
                      .program = options_.decoder};
  if (name == "timbre") limits.min_seconds = kMinTimbre_s;
  const LongWork::Permit turn = long_work_.begin();
  Decoded decoded;
  try {
    decoded = decode_confined(file, wav, limits);
  } catch (const Error& error) {
    fail(error.code(), as_sentence(error.message(), limits.name), hint_for_callers(error));
  }
  upload.seconds = decoded.seconds;
  upload.source = to_json(decoded.source);
  upload.bytes = static_cast<int64_t>(fs::file_size(wav));
  upload.created_ms = now_ms();
  upload.expires_ms = upload.created_ms + options_.keep_uploads.count();
  incoming.own.push_back(upload);  // from here on it is removed unless it is kept
  store_.put(upload_key(upload.id), wav);
  return upload;
}

void Api::read_form(Request& request, Incoming& incoming) {
  std::vector<Part*> files;
  JobRequest& job = incoming.job;
  const std::array<std::pair<std::string_view, std::string*>, 3> sounds = {
      {{"audio", &job.upload}, {"timbre", &job.timbre}, {"backing", &job.backing}}};
  const auto place_of = [&](const Part& part) {
    return std::ranges::find(sounds, part.name, &std::pair<std::string_view, std::string*>::first);
  };
  for (Part& part : request.parts) {
    if (part.file.empty()) {
      read_field(part.name, part.text, incoming);
      continue;
    }
    const auto found = place_of(part);
    if (!found->second->empty()) {
      fail(ExitCode::kUsage, "there is audio, and an upload too", "send only one of them");
    }
    *found->second = "to be decoded";
    files.push_back(&part);
  }
  check(incoming);  // before the long work
  for (Part* part : files) {
    Upload upload = decode(part->file.path(), part->name, job.caller, incoming);
    *place_of(*part)->second = upload.id;
  }
}

void Api::check(Incoming& incoming) const {
  JobRequest& job = incoming.job;
  if (!job.notes.is_null()) {
    const auto notes = parse_given_notes(job.notes, options_.max_seconds);
    job.notes = audio::to_json(std::span(notes));
  } else if (job.upload.empty()) {
    fail(ExitCode::kUsage, "there is nothing to hear: neither audio, nor an upload, nor notes",
         "send the recording as the part 'audio', or the id of an upload as 'upload'");
  }
  auto options = parse_job_options(incoming.options, job.task);
  validate(options, job);
  job.options = hum::to_json(options);
}

Response Api::answer(const Acceptance& acceptance) const {
  switch (acceptance.outcome) {
    case Acceptance::kOtherRequest:
      return problem_with_hint(422, "this Idempotency-Key was used for another request",
                               "send a new key with each new request");
    case Acceptance::kQueueFull: {
      auto full = problem_with_hint(
          429, fmt::format("{} jobs are waiting, and no more are taken", acceptance.position),
          "send it again later");
      full.headers.set("Retry-After", std::to_string(kRetryAfterFullQueue_s));
      return full;
    }
    case Acceptance::kNoUpload:
      return problem_with_hint(
          422, fmt::format("there is no upload '{}', or it has expired", acceptance.missing),
          "upload it again");
    case Acceptance::kOverQuota:
      return over_quota(*acceptance.limit);
    case Acceptance::kAccepted:
    case Acceptance::kRepeated:
      break;
  }
  Response accepted = json_response(202, {{"id", acceptance.id},
                                          {"status", to_name(Status::kQueued)},
                                          {"position", acceptance.position},
                                          {"links", job_links(acceptance.id)}});
  accepted.headers.set("Location", job_path(acceptance.id));
  return accepted;
}

Response Api::post_job(Request& request) {
  Incoming incoming(store_, caller_of(request));
  const auto key = key_of(request);
  if (key) {
    if (const auto earlier = records_.earlier(incoming.job.caller, *key)) return answer(*earlier);
  }
  if (const auto limit = records_.reached_limit(incoming.job.caller, /*is_job=*/true)) {
    return over_quota(*limit);
  }
  if (is_form(request)) {
    read_form(request, incoming);
  } else if (!request.body.empty()) {  // the route lets only JSON in
    read_json(request, incoming);
    check(incoming);
  } else {
    fail(ExitCode::kUsage, "the request has no body, neither a form nor JSON", kBodyExample);
  }
  const Acceptance acceptance = records_.accept(incoming.job, incoming.own, key);
  incoming.is_kept = acceptance.outcome == Acceptance::kAccepted;
  return answer(acceptance);
}

Response Api::post_upload(Request& request) {
  Incoming incoming(store_, caller_of(request));
  const auto key = key_of(request);
  const auto created = [&](const std::string& id) {
    const auto upload = records_.upload(incoming.job.caller, id);
    if (!upload) return problem(404, "this upload has expired");
    Response response = json_response(201, upload_json(*upload));
    response.headers.set("Location", "/v1/uploads/" + id);
    return response;
  };
  if (key) {
    const auto earlier = records_.earlier(incoming.job.caller, *key);
    if (earlier && earlier->outcome == Acceptance::kRepeated) return created(earlier->id);
    if (earlier) return answer(*earlier);
  }
  if (const auto limit = records_.reached_limit(incoming.job.caller, /*is_job=*/false)) {
    return over_quota(*limit);
  }
  if (request.parts.size() != 1) {
    fail(ExitCode::kUsage, "an upload is one sound: the part 'audio', 'timbre' or 'backing'",
         "send it as multipart/form-data: curl -F audio=@hum.wav ...");
  }
  const Part& sound = request.parts[0];
  const Upload upload = decode(sound.file.path(), sound.name, incoming.job.caller, incoming);
  const Acceptance acceptance = records_.add_upload(upload, key);
  incoming.is_kept = acceptance.outcome == Acceptance::kAccepted;
  if (acceptance.id.empty()) return answer(acceptance);
  return created(acceptance.id);
}

}  // namespace hum::serve
