// One job of `hum client`: sends a recording to a `hum serve`, follows the job, and fetches what it
// made.
#pragma once

#include <functional>
#include <string>

#include "base/json_fwd.h"
#include "serve/client/client.h"
#include "serve/jobs/job_options.h"

namespace hum::serve {

// The server's defaults. What equals them is not sent; an empty `snap` leaves it to the task.
inline JobOptions unsent_options() {
  JobOptions options;
  options.score.snap.clear();
  return options;
}

struct ClientOptions {
  std::string recording, timbre, backing;  // files; timbre and backing may be empty
  Task task = Task::kGenerate;
  JobOptions job = unsent_options();
  ServerAccess server;
  // Where the results go: a file, whose extension chooses one of them, or a folder for all. Empty:
  // nowhere.
  std::string output;
  bool stream = false;  // also write the sound to stdout while the server makes it
  Patience patience;

  template <class V>
  void visit_fields(V& v) {
    v("server", server.url, "address of the server, as `hum serve` prints it");
    v("server_key", server.key, "token that `hum serve add-key` has printed (default: HUM_KEY)");
    v("server_ca", server.ca, "file with the certificate to trust, for a server with its own");
    v("task", task, "what to do with the recording");
    v("timbre", timbre, "recording to imitate instead of a preset: its best 5 s");
    v("backing", backing, "song to mix the melody into; both start together");
    job.visit_fields(v);
  }
};

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
