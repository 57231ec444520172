// The API of the service: calls to records and store, as routes of an HTTP server. The page, the
// workers and the process around it are elsewhere. docs/service.md and /openapi.json describe it.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

#include "decode/confined.h"
#include "models/spleeter/separator.h"
#include "serve/api/job_events.h"
#include "serve/api/long_work.h"
#include "serve/api/preset_sounds.h"
#include "serve/http/http.h"
#include "serve/storage/records.h"
#include "serve/storage/store.h"

namespace hum::serve {

struct ApiOptions {
  double max_seconds = audio::kDefaultMaxSeconds;
  int64_t max_upload_bytes = 100 << 20;
  std::chrono::milliseconds keep_uploads{24 * 3'600'000LL};
  std::string weights;  // for the list of presets, and whether songs can be separated
  // Where Spleeter's weights are looked for.
  std::filesystem::path spleeter = models::spleeter::default_weights_path();
  std::filesystem::path decoder;  // the program with the decoder; empty: this one
};

class Api {
 public:
  // All arguments must outlive this object, and this object the server.
  Api(Records& records, Store& store, JobEvents& events, ApiOptions options);

  void add_routes(Router& router);

 private:
  // ---- api_requests.cpp ----
  Response post_job(Request& request);
  Response post_upload(Request& request);
  Response answer(const Acceptance& acceptance) const;

  // ---- api.cpp ----
  Response get_upload(const Request& request);
  Response delete_upload(const Request& request);
  Response get_job(const Request& request);
  Response list_jobs(const Request& request);
  Response delete_job(const Request& request);
  Response get_events(const Request& request);
  Response get_result(const Request& request);
  Response get_stream(const Job& job);
  Job require_job(const Request& request);
  Response get_presets() const;
  Response get_stems() const;
  Response get_ready();

  // A result in another format, or all as zip: made on request and kept. Absent: cannot be made.
  std::optional<std::filesystem::path> derived(const Job& job, const std::string& name);

  Records& records_;
  Store& store_;
  JobEvents& events_;
  ApiOptions options_;
  PresetSounds preset_sounds_;
  // Fewer than ServerOptions::handler_threads, so that files and events are never kept waiting.
  LongWork long_work_{4, 8, std::chrono::seconds(5)};
  std::timed_mutex derive_mutex_;  // one at a time: the workers need the processor
};

// A job as clients see it; `position` of a queued one, 0: leave it out. Lists leave out what is
// large.
Json job_json(const Job& job, int64_t position, bool is_in_list = false);

// The description of the API, OpenAPI 3.1.
Json openapi_document();

}  // namespace hum::serve
