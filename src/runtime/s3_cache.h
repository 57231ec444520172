// Caches compiled programs in S3. Downloads block for a short time; uploads run in a thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/s3.h"
#include "runtime/shared_cache.h"

namespace hum::runtime {

class S3Cache : public SharedCache {
 public:
  // Settings come from the environment (base/s3.h). `patience`: how long the destructor waits for
  // unfinished uploads.
  explicit S3Cache(const std::string& url,
                   std::chrono::milliseconds patience = std::chrono::seconds(20));
  ~S3Cache() override;
  S3Cache(const S3Cache&) = delete;
  S3Cache& operator=(const S3Cache&) = delete;

  std::optional<std::string> get(const std::string& file) override;
  void put(const std::string& file, std::string entry) override;

 private:
  std::string key(const std::string& file) const;
  void upload_all(const std::stop_token& stop);
  // After this, the process's session neither reads nor writes S3.
  void give_up(const std::string& why);

  std::string url_;
  std::string prefix_;
  std::optional<S3Bucket> bucket_;
  std::atomic<bool> given_up_ = false;
  std::chrono::milliseconds patience_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  std::deque<std::pair<std::string, std::string>> waiting_;  // file, entry
  bool uploading_ = false;
  std::jthread uploader_;  // started by the first upload
};

}  // namespace hum::runtime
