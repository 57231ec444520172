// What a request sends to become a job or an upload: parsed, checked, its sounds decoded into the
// store.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "serve/api/api.h"

namespace hum::serve {

class Incoming {
 public:
  // All arguments must outlive this object. `decoders`: what waits its turn to decode.
  Incoming(Store& store, LongWork& decoders, const ApiOptions& options, std::string caller);
  // Removes the sounds, unless they are kept.
  ~Incoming();
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  // Reads a job. Throws: kUsage, kBadData for what is wrong; kTemporary if too much is being
  // decoded.
  void read(Request& request);
  // Decodes a sound: "audio", "timbre", "backing" or "song". The latter two keep two channels.
  Upload decode(const std::filesystem::path& file, const std::string& name);
  // The request was accepted.
  void keep() { is_kept_ = true; }

  const JobRequest& job() const { return job_; }
  const std::vector<Upload>& uploads() const { return uploads_; }

 private:
  void read_json(const Request& request);
  void read_form(Request& request);
  void read_field(const std::string& name, const std::string& text);
  void check();

  Store& store_;
  LongWork& decoders_;
  const ApiOptions& options_;
  JobRequest job_;
  Json given_options_ = Json::object();
  std::vector<Upload> uploads_;
  bool is_kept_ = false;
};

}  // namespace hum::serve
