// What the sources of the API share.
#pragma once

#include <string>

#include "serve/api/api.h"

namespace hum::serve {

// Who sends a request: the name of a key, or kLocalCaller (access/gate.h).
inline const std::string& caller_of(const Request& request) { return request.caller; }

// "2026-11-25T13:00:00Z".
std::string utc(int64_t time_ms);
Json upload_json(const Upload& upload);
Json job_links(const std::string& id);

inline std::string job_path(const std::string& id) { return "/v1/jobs/" + id; }

// A problem with what to do about it.
inline Response problem_with_hint(int status, std::string detail, const std::string& hint) {
  return problem(status, std::move(detail), Json{{"hint", hint}});
}

}  // namespace hum::serve
