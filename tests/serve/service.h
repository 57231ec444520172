// Runs `hum serve` as a process and talks to it.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/sanitizers.h"
#include "base/scratch_folder.h"
#include "base/testing/process.h"
#include "serve/http/test_client.h"

namespace hum::serve {

using hum::testing::eventually;
using hum::testing::is_running;
using hum::testing::Process;
using hum::testing::ProcessOptions;
using hum::testing::resident_bytes;

std::filesystem::path hum_program();
// The compile cache that tests share and, if wanted, untrained weights of tiny models: built with a
// sanitizer, hum would take a minute for a job with the released ones.
std::map<std::string, std::string> hum_environment(bool has_tiny_weights = kHasSanitizer);
// Runs hum with these arguments in that environment. `out`: see ProcessOptions.
std::unique_ptr<Process> run_hum(const std::vector<std::string>& arguments,
                                 const std::filesystem::path& log,
                                 const std::filesystem::path& out = {});

class ServiceTest : public ::testing::Test {
 protected:
  // Starts the server, port 0: on a free one, and waits until it accepts connections.
  void start(int workers = 1, int port = 0);
  // Waits until a worker has loaded its models.
  void wait_until_ready();

  testing::Answer ask(const std::string& method, const std::string& target,
                      const std::string& headers = "", const std::string& body = "") const;
  Json job(const std::string& id) const;
  // Sends a recording, or a song; returns the id of the upload.
  std::string upload(const std::filesystem::path& recording,
                     const std::string& part = "audio") const;
  // Starts a job; returns its id.
  std::string begin(const Json& request) const;
  // Waits for the end of the job and returns it.
  Json finish(const std::string& id) const;
  // Waits until the job has this stage, or has ended: a short stage may pass between two looks.
  // Returns whether the stage was seen.
  bool wait_for_stage(const std::string& id, const std::string& stage) const;
  std::string result(const std::string& id, const std::string& name) const;
  // The sound that `hum generate` makes of the example.
  std::string generated(const std::vector<std::string>& flags);
  std::filesystem::path log() const { return scratch_.path() / "log"; }

  const ScratchFolder scratch_;
  const std::filesystem::path data_ = scratch_.path() / "data";
  std::unique_ptr<Process> server_;
  int port_ = 0;
};

std::filesystem::path example_recording();

}  // namespace hum::serve
