// One job of `hum client`: sends a recording to a `hum serve`, follows the job, and fetches what it
// made.
#pragma once

#include <functional>

#include "base/json_fwd.h"
#include "serve/client/client_options.h"

namespace hum::serve {

// Does the job and returns it as the API shows it, with "files": the paths that were written.
// `changed` gets the job each time it is asked for; before it is accepted, {"status": "sending"};
//   while the server refuses or does not answer, {"status": "busy" or "lost", "detail": why}, with
//   "pause_s" until it is asked again, "patience_s" for all attempts, and the job's "id" if it was
//   accepted.
// A stop signal (app/stop.h), or a stdout that takes no more of the stream, removes the job from
// the server. Throws: kUsage for options that do not fit each other; kNoInput, kCannotCreate for
// the files;
//   what Client throws; kBadData if the job failed, with the server's reason.
Json run_remote_job(const ClientOptions& options,
                    const std::function<void(const Json& job)>& changed);

// Whether this state of a job, as the API shows it, is its last.
bool has_ended(const Json& job);

}  // namespace hum::serve
