// `hum serve` as a process, and its client, for tests and bars that put it under load. The load
// comes from this process, over loopback.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/http.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/testing/process.h"

namespace hum::serve {

class RunningService {
 public:
  struct Options {
    std::filesystem::path program;  // hum
    int workers = 1;
    std::map<std::string, std::string> environment = {};
  };
  explicit RunningService(Options options) : options_(std::move(options)) {}

  // Starts the server, again on the same port; returns the seconds until it accepts connections.
  // Throws: kFailure if it does not start.
  double start();
  // Waits until a worker has loaded its models. Throws: kFailure if that takes too long.
  void wait_until_ready() const;
  hum::testing::Process& process() { return *process_; }
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
  // Does a job on a recording and returns its id. Throws: kFailure if it is not done in time.
  std::string do_job(std::string_view recording, const Json& options) const;
  // Reads the events of a job until it ends, the connection is lost or `stop`. `came`: called for
  // what arrives; may be empty.
  void follow(const std::string& id, const std::stop_token& stop = {},
              const std::function<void()>& came = {}) const;
  // The processes that are workers, not decoders.
  std::vector<pid_t> workers() const;

 private:
  Options options_;
  ScratchFolder folder_;
  std::unique_ptr<hum::testing::Process> process_;
  int port_ = 0;  // constant after the first start, as is the address
  std::string url_;
};

// A folder of weights of tiny, untrained models for the service, which lasts as long as this
// process: `HUM_WEIGHTS` for tests in which the sound does not matter. The ear is the released one.
std::filesystem::path tiny_weights();

// Memory that leaks while the service does so many jobs after the first fifth of them: four times
// the median growth of a fifth. The jobs hear a hum of a second, play it, are read and removed,
// several at a time. The service has one worker, which is ready. Throws: kFailure if a job is not
// done or the worker dies.
struct MemoryGrowth {
  double server_mb = 0, worker_mb = 0;
};
// A leak of 10 kB in a job would be 8 MB after 1,000 jobs.
inline constexpr double kMostGrowth_mb = 5;
MemoryGrowth growth_after(RunningService& service, int jobs);

}  // namespace hum::serve
