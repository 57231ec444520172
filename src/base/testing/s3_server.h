// A small in-process S3 server for tests: one bucket in memory, path style, no TLS. It rejects
// requests whose body, checksum or signature does not match the bytes received.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/s3.h"

namespace hum::testing {

class S3Server {
 public:
  explicit S3Server(std::string bucket = "hum-test");
  ~S3Server();
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

  // "http://127.0.0.1:<port>"
  std::string endpoint() const;
  // Client options for this server, with short pauses.
  S3Options options() const;

  struct Fault {
    int status = 0;                      // the response status, if not 0
    std::string code = {};               // the error code in its XML
    bool hang_up = false;                // closes without a response
    bool truncate = false;               // closes after half of the body
    std::chrono::milliseconds delay{0};  // before the response
    std::map<std::string, std::string> headers = {};
    int after = 0;      // so many requests pass first
    bool lost = false;  // does what it is asked to, but closes without a response
  };
  // Applies the fault to the next `count` requests.
  void fail_next(int count, Fault fault);

  std::map<std::string, std::string> objects() const;
  void set_object(const std::string& key, std::string bytes);
  // Uploads in parts that are neither joined nor aborted.
  size_t unfinished_uploads() const;
  // "PUT /hum-test/a%3Db" for every request, in order.
  std::vector<std::string> requests() const;

 private:
  struct Request;
  struct Answer;
  static Request parse_head(const std::string& head);
  static std::optional<Request> receive(int connection);
  // Records the request in requests_ and returns the fault that applies to it.
  Fault note(const Request& request);
  void accept_all();
  void serve(int connection);
  Answer answer(const Request& request);
  Answer list(const Request& request) const;
  Answer put(const Request& request, const std::string& key);
  // A request of an upload in parts.
  Answer answer_parts(const Request& request, const std::string& key);
  std::string why_refused(const Request& request) const;

  std::string bucket_;
  int socket_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, std::string> objects_;
  std::map<std::string, std::string> checksums_;               // of objects that have one
  std::map<std::string, std::map<int, std::string>> uploads_;  // parts by number
  int upload_number_ = 0;
  std::vector<std::string> requests_;
  std::vector<std::thread> connections_;
  Fault fault_;
  int faults_left_ = 0;
  std::thread acceptor_;
};

// Sets AWS's variables as long as it lives, for programs that read credentials, region and endpoint
// from them.
class S3Variables {
 public:
  explicit S3Variables(const S3Options& options);
  ~S3Variables();
  S3Variables(const S3Variables&) = delete;
  S3Variables& operator=(const S3Variables&) = delete;

 private:
  std::map<std::string, std::string> variables_;
};

}  // namespace hum::testing
