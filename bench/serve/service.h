// `hum serve` as a process, and its client, for the bars of the service. The load comes from this
// process, over loopback.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/http.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "serve/client/remote_job.h"
#include "tests/serve/process.h"

namespace hum::bench {

using serve::has_ended;

class Service {
 public:
  explicit Service(int workers) : workers_(workers) {}

  // Starts the server, again on the same port; returns the seconds until it accepts connections.
  // Throws: kFailure if it does not start.
  double start();
  // Waits until a worker has loaded its models. Throws: kFailure if that takes too long.
  void wait_until_ready() const;
  serve::Process& process() { return *process_; }
  int port() const { return port_; }
  std::string log() const;

  // Throws nothing: an answer with status 0 says that there was none.
  HttpAnswer ask(const std::string& method, const std::string& path, std::string_view body = {},
                 const std::vector<std::string>& headers = {},
                 const std::function<void(std::string_view)>& sink = {}) const;
  // A job on a recording, as one form. Empty: it was not accepted.
  std::string begin(std::string_view recording, const Json& options,
                    const std::string& key = "") const;
  // Absent: no answer. Throws: kFailure for an answer that is no job.
  std::optional<Json> job(const std::string& id) const;
  // Reads the events of a job until it ends, the connection is lost or `stop`. `came`: called for
  // what arrives; may be empty.
  void follow(const std::string& id, const std::stop_token& stop = {},
              const std::function<void()>& came = {}) const;
  // The processes that are workers, not decoders.
  std::vector<pid_t> workers() const;

 private:
  int workers_;
  ScratchFolder folder_;
  std::unique_ptr<serve::Process> process_;
  int port_ = 0;  // constant after the first start, as is the address
  std::string url_;
};

}  // namespace hum::bench
