#include "serve/api/api.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "app/play/synthesizer.h"
#include "base/error.h"
#include "base/names.h"
#include "data/synthesis/presets.h"
#include "serve/api/api_impl.h"
#include "serve/jobs/job_work.h"
#include "serve/jobs/song_jobs.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kListed = 20, kMostListed = 100;
// Notes of the longest recording, with their bends.
constexpr int64_t kMostJsonBytes = 8 << 20;
// A form may carry three sounds.
constexpr int64_t kMostFormFiles = 3;
// Besides the file.
constexpr int64_t kFormBytes = 64 << 10;
constexpr const char* kFormType = "multipart/form-data";
constexpr const char* kHowToSend =
    "send multipart/form-data with the recording in the part 'audio': curl -F audio=@hum.wav ...";

Response retry_soon(int status, const std::string& detail) {
  Response response = problem(status, detail);
  response.headers.set("Retry-After", "1");
  return response;
}

// Whole numbers in the query. Throws: kUsage.
std::optional<int64_t> number_in(const Request& request, const std::string& name, int64_t low,
                                 int64_t high) {
  const auto text = request.query_value(name);
  if (!text) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  const bool is_whole = error == std::errc() && end == text->data() + text->size();
  if (is_whole && value >= low && value <= high) return value;
  fail(ExitCode::kUsage,
       fmt::format("{}: '{}' is not a number from {} to {}", name, *text, low, high));
}

// Who reads a result may keep it, but must ask whether it is still there.
Response file_response(const fs::path& path, const std::string& name) {
  Response response{.content_type = std::string(media_type(name)), .body = FileBody{path, ""}};
  response.headers.set("Cache-Control", "private, no-cache");
  response.headers.set("Content-Disposition", fmt::format("attachment; filename=\"{}\"", name));
  return response;
}

}  // namespace

std::string utc(int64_t time_ms) {
  const std::time_t seconds = time_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

Json upload_json(const Upload& upload) {
  return {{"id", upload.id}, {"seconds", upload.seconds}, {"expires", utc(upload.expires_ms)}};
}

Json job_links(const std::string& id) {
  const std::string self = job_path(id);
  return {{"self", self},
          {"events", self + "/events"},
          {"stream", self + "/results/" + std::string(kStreamName)}};
}

Json job_json(const Job& job, int64_t position, bool is_in_list) {
  const JobRequest& request = job.request;
  Json results = job.results;
  for (Json& result : results) {
    result["url"] = job_path(request.id) + "/results/" + result["name"].get<std::string>();
  }
  const bool is_queued = job.status == Status::kQueued;
  Json json = {{"id", request.id},
               {"task", to_name(request.task)},
               {"status", to_name(job.status)},
               {"stage", is_queued ? "queued" : job.stage},
               {"progress", job.progress},
               {"seconds_left", job.seconds_left ? Json(*job.seconds_left) : Json()}};
  if (position > 0) json["position"] = position;
  if (!is_in_list) json["notes"] = job.heard;
  json["results"] = std::move(results);
  json["error"] = job.error;
  json["upload"] = request.upload.empty() ? Json() : Json(request.upload);
  if (!is_in_list) json["options"] = request.options;
  json["created"] = utc(job.created_ms);
  json["ended"] = job.ended_ms > 0 ? Json(utc(job.ended_ms)) : Json();
  json["links"] = job_links(request.id);
  return json;
}

Api::Api(Records& records, Store& store, JobEvents& events, ApiOptions options)
    : records_(records),
      store_(store),
      events_(events),
      options_(std::move(options)),
      preset_sounds_(records, store) {}

void Api::add_routes(Router& router) {
  const auto to = [this](Response (Api::*handle)(const Request&)) -> Handler {
    return [this, handle](Request& request) { return (this->*handle)(request); };
  };
  const std::vector<std::string> sounds = {"audio", "timbre", "backing"};
  router.add("POST", "/v1/jobs", [this](Request& request) { return post_job(request); },
             {.body_bytes = kMostJsonBytes,
              .form_bytes = kMostFormFiles * options_.max_upload_bytes + kMostJsonBytes,
              .file_parts = sounds,
              .file_bytes = options_.max_upload_bytes,
              .text_parts = std::vector<std::string>{"upload", "task", "notes", "options"},
              .media_types = {kFormType, "application/json"},
              .hint = kHowToSend});
  router.add("POST", "/v1/uploads", [this](Request& request) { return post_upload(request); },
             {.form_bytes = options_.max_upload_bytes + kFormBytes,
              .file_parts = std::vector<std::string>{"audio", "timbre", "backing", "song"},
              .text_parts = std::vector<std::string>{},
              .media_types = {kFormType},
              .hint = kHowToSend});
  router.add("GET", "/v1/uploads/{id}", to(&Api::get_upload));
  router.add("DELETE", "/v1/uploads/{id}", to(&Api::delete_upload));
  router.add("GET", "/v1/jobs", to(&Api::list_jobs));
  router.add("GET", "/v1/jobs/{id}", to(&Api::get_job));
  router.add("DELETE", "/v1/jobs/{id}", to(&Api::delete_job));
  router.add("GET", "/v1/jobs/{id}/events", to(&Api::get_events));
  router.add("GET", "/v1/jobs/{id}/results/{name}", to(&Api::get_result));
  router.add("GET", "/v1/presets", [this](Request&) { return get_presets(); });
  router.add("GET", "/v1/presets/{name}/sound.wav",
             [this](Request& request) { return preset_sounds_.get(request.parameter("name")); },
             {.own_pages_only = true});
  router.add("GET", "/v1/stems", [this](Request&) { return get_stems(); });
  router.add("GET", "/health", [](Request&) { return json_response(200, {{"status", "ok"}}); });
  router.add("GET", "/ready", [this](Request&) { return get_ready(); });
  router.add("GET", "/openapi.json",
             [](Request&) { return json_response(200, openapi_document()); });
}

Response Api::get_upload(const Request& request) {
  const auto upload = records_.upload(caller_of(request), request.parameter("id"));
  if (!upload) return problem(404, "there is no such upload, or it has expired");
  return json_response(200, upload_json(*upload));
}

Response Api::delete_upload(const Request& request) {
  const auto removed = records_.remove_upload(caller_of(request), request.parameter("id"));
  if (!removed) return problem(404, "there is no such upload, or it has expired");
  for (const std::string& id : removed->uploads) store_.remove(upload_key(id));
  return {.status = 204};
}

Job Api::require_job(const Request& request) {
  auto job = records_.job(caller_of(request), request.parameter("id"));
  if (!job) fail(ExitCode::kNoInput, "there is no such job", "it may have been removed or expired");
  return std::move(*job);
}

Response Api::get_job(const Request& request) {
  const Job job = require_job(request);
  const int64_t position = job.status == Status::kQueued ? records_.position(job) : 0;
  return json_response(200, job_json(job, position));
}

Response Api::list_jobs(const Request& request) {
  const int64_t limit = number_in(request, "limit", 1, kMostListed).value_or(kListed);
  const auto cursor = number_in(request, "cursor", 1, INT64_MAX);
  const auto jobs = records_.list(caller_of(request), limit + 1, cursor);
  Json shown = Json::array();
  for (const Job& job : jobs) {
    if (std::ssize(shown) < limit) shown.push_back(job_json(job, 0, /*is_in_list=*/true));
  }
  const bool has_more = std::ssize(jobs) > limit;
  const Json next =
      has_more ? Json(std::to_string(jobs[static_cast<size_t>(limit) - 1].number)) : Json();
  return json_response(200, {{"jobs", std::move(shown)}, {"next", next}});
}

Response Api::delete_job(const Request& request) {
  const std::string& id = request.parameter("id");
  const auto removed = records_.remove_job(caller_of(request), id);
  if (!removed) return problem(404, "there is no such job");
  for (const std::string& upload : removed->uploads) store_.remove(upload_key(upload));
  store_.remove_all(job_prefix(id));
  return {.status = 204};
}

Response Api::get_events(const Request& request) {
  const Job job = require_job(request);
  const std::string last_id(request.headers.get("Last-Event-ID"));
  // Tells EventSource not to come back.
  if (is_final(job.status) && last_id == std::to_string(job.version)) return {.status = 204};
  return {.content_type = "text/event-stream", .body = EventBody{events_.follow(job), last_id}};
}

Response Api::get_stream(const Job& job) {
  const std::string key = result_key(job.request.id, kStreamName);
  if (is_final(job.status) || job.request.task != Task::kGenerate) {
    const auto path = store_.find(key);
    if (!path || job.status != Status::kDone) return problem(404, "this job has no stream");
    return file_response(*path, std::string(kStreamName));
  }
  const fs::path path = store_.growing(key);
  const auto growth = [this, id = job.request.id, path]() -> Growth {
    // The record first: what it says of the stream holds for the size that is read after it.
    const auto now = records_.any_job(id);
    if (!now || now->status == Status::kFailed) return {0, Growth::kBroken};
    std::error_code missing;
    const auto bytes = fs::file_size(path, missing);
    const bool is_whole = now->status == Status::kDone || now->stage == "write";
    if (missing) return {0, is_whole ? Growth::kBroken : Growth::kGrows};
    return {static_cast<int64_t>(bytes), is_whole ? Growth::kComplete : Growth::kGrows};
  };
  return {.content_type = std::string(media_type(kStreamName)),
          .body = GrowingFileBody{.path = path, .growth = growth, .signal = events_.changes()}};
}

Response Api::get_result(const Request& request) {
  const Job job = require_job(request);
  const std::string& name = request.parameter("name");
  if (name == kStreamName) return get_stream(job);
  if (!is_final(job.status)) return retry_soon(409, "the job has not ended yet");
  const bool is_listed =
      std::ranges::any_of(job.results, [&](const Json& result) { return result["name"] == name; });
  const auto path = is_listed ? store_.find(result_key(job.request.id, name)) : derived(job, name);
  if (!path) return problem(404, "this job has no such result");
  return file_response(*path, name);
}

Response Api::get_presets() const {
  const auto known = app::known_presets(app::weights_folder(options_.weights));
  Json presets = Json::array();
  for (const data::Preset& preset : data::presets()) {
    presets.push_back({{"name", preset.name},
                       {"family", preset.family},
                       {"program", preset.program},
                       {"low", preset.low},
                       {"high", preset.high},
                       {"trained", std::ranges::find(known, &preset) != known.end()},
                       {"sound", PresetSounds::path(preset.name)}});
  }
  return json_response(200, {{"presets", std::move(presets)}});
}

Response Api::get_stems() const {
  return json_response(
      200, {{"stems", stems_found({.weights = options_.weights, .spleeter = options_.spleeter})}});
}

Response Api::get_ready() {
  const auto workers = records_.workers();
  const auto ready = std::ranges::count_if(workers, &WorkerInfo::is_ready);
  const Json body = {
      {"status", ready > 0 ? "ready" : "loading"}, {"workers", workers.size()}, {"ready", ready}};
  if (ready > 0) return json_response(200, body);
  Response response = problem(503, "no worker has loaded its models yet", body);
  response.headers.set("Retry-After", "1");
  return response;
}

}  // namespace hum::serve
