// What `hum client` asks of a `hum serve`, and where its results go.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/json.h"
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

// What -o asks for: one result in a file, or all in a folder.
struct Output {
  std::filesystem::path path;
  std::string result;  // "": the first one, a sound
  bool is_folder = false;
};

struct ClientRequest {
  std::optional<Output> output;
  Json options;  // of the job: those that were changed
};

// Checks the options before anything is sent. Throws: kUsage for options that do not fit each
// other, or that the server would refuse after the upload.
ClientRequest checked_request(const ClientOptions& options);

}  // namespace hum::serve
