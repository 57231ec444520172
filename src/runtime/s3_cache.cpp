#include "runtime/s3_cache.h"

#include "base/error.h"
#include "base/log.h"

namespace hum::runtime {
namespace {

// A compile takes seconds to a minute: waiting longer for S3 is not worth it.
constexpr std::chrono::seconds kDownloadLimit(20);
constexpr std::chrono::seconds kConnectLimit(3);

S3Options cache_options() {
  S3Options options = s3_options_from_environment();
  options.connect_timeout = kConnectLimit;
  options.transfer_timeout = kDownloadLimit;
  options.attempts = 2;
  return options;
}

}  // namespace

S3Cache::S3Cache(const std::string& url, std::chrono::milliseconds patience)
    : url_(url), patience_(patience) {
  try {
    S3Place place = parse_s3_url(url);
    prefix_ = std::move(place.prefix);
    bucket_.emplace(cache_options(), std::move(place.bucket));
  } catch (const Error& error) {
    give_up(error.what());
  }
}

S3Cache::~S3Cache() {
  std::unique_lock lock(mutex_);
  const auto is_done = [&] { return waiting_.empty() && !uploading_; };
  if (!changed_.wait_for(lock, patience_, is_done)) {
    spdlog::warn("compile cache: {} is too slow, an upload was cancelled", url_);
  }
  lock.unlock();
  uploader_.request_stop();  // ends a transfer within a second; ~jthread joins
}

std::string S3Cache::key(const std::string& file) const {
  return prefix_.empty() ? file : prefix_ + "/" + file;
}

void S3Cache::give_up(const std::string& why) {
  given_up_ = true;
  warn_once("compile cache " + url_,
            fmt::format("compile cache: {} is disabled for this process: {}", url_, why));
}

std::optional<std::string> S3Cache::get(const std::string& file) {
  if (given_up_) return std::nullopt;
  try {
    return bucket_->get(key(file));
  } catch (const Error& error) {
    give_up(error.what());
    return std::nullopt;
  }
}

void S3Cache::put(const std::string& file, std::string entry) {
  if (given_up_) return;
  const std::lock_guard lock(mutex_);
  waiting_.emplace_back(file, std::move(entry));
  if (!uploader_.joinable()) {
    uploader_ = std::jthread([this](const std::stop_token& stop) { upload_all(stop); });
  }
  changed_.notify_all();
}

void S3Cache::upload_all(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); }) && !stop.stop_requested()) {
    const auto [file, entry] = std::move(waiting_.front());
    waiting_.pop_front();
    uploading_ = true;
    lock.unlock();
    try {
      if (!given_up_) bucket_->put(key(file), entry, stop);
    } catch (const Error& error) {
      if (!stop.stop_requested()) give_up(error.what());
    }
    lock.lock();
    uploading_ = false;
    changed_.notify_all();
  }
}

}  // namespace hum::runtime
