// The HTTP server (Boost.Asio, Beast's parser): one I/O thread; handlers run on a small pool.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/http/http.h"

namespace hum::serve {

// What an access log or a metric may know of a request that has ended.
struct Exchange {
  std::string method, route;  // route: the pattern, "" if none matched
  int status = 0;
  int64_t received_bytes = 0, sent_bytes = 0;  // of the bodies
  double seconds = 0;                          // from the request's first byte
  bool complete = false;                       // the whole response was handed to the system
};

struct ServerOptions {
  std::string address = "127.0.0.1";               // numeric, IPv4 or IPv6
  int port = 0;                                    // 0: any free one
  std::filesystem::path spool_folder;              // for file parts; must exist if a route has some
  std::filesystem::path tls_certificate, tls_key;  // PEM; both or none; read again if changed

  // Names and addresses accepted in Host besides the loopback names and the address that the client
  // connected to (DNS rebinding). Without port.
  std::vector<std::string> hosts;
  std::vector<std::string> proxies;  // addresses whose X-Forwarded-For is believed
  // Origins whose pages may read answers and change things here, without cookies (CORS).
  std::vector<std::string> cors_origins;

  int handler_threads = 16;
  int max_connections = 512;  // beyond: 503 with Retry-After
  int max_streams = 256;      // responses that are event streams or growing files; beyond: 503
  int64_t header_bytes = 16 << 10;                   // 431
  int64_t target_bytes = 8 << 10;                    // 414
  std::chrono::milliseconds header_timeout{10'000};  // from the first byte of a request: 408
  std::chrono::milliseconds idle_timeout{60'000};    // between requests
  std::chrono::milliseconds body_grace{30'000};      // body: at most this + bytes / lowest rate
  int64_t lowest_bytes_per_second = 4096;
  std::chrono::milliseconds write_timeout{60'000};  // a client that takes nothing for this long
  std::chrono::milliseconds ping_interval{15'000};
  std::chrono::milliseconds event_retry{2'000};  // for the client

  // Runs on the pool before the body is read; a response refuses the request (keys, quotas).
  std::function<std::optional<Response>(Request&)> admit;  // streams ask again as they ping
  // Runs on the I/O thread when a response has ended: short, must not throw.
  std::function<void(const Exchange&)> finished;
};

// A port taken before its server exists, so that a start that fails at the port has changed nothing
// yet. Clients that connect meanwhile wait for the server.
class ListeningSocket {
 public:
  // Closed in child processes. Throws: kUsage for a bad address, kUnavailable if the port is taken,
  // kNoPermission.
  ListeningSocket(const std::string& address, int port);
  ~ListeningSocket();
  ListeningSocket(ListeningSocket&& other) noexcept : descriptor_(other.release()) {}
  ListeningSocket& operator=(ListeningSocket&&) = delete;

  // The caller takes over the descriptor.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

class HttpServer {
 public:
  // Accepts connections when it returns. Its sockets are closed in child processes. `socket`
  // listens at the address and port of the options; absent: the server opens one. Throws: kUsage
  // for a bad certificate, kNoInput and kNoPermission for its files; what ListeningSocket throws.
  HttpServer(ServerOptions options, Router router,
             std::optional<ListeningSocket> socket = std::nullopt);
  // Cuts what still runs and waits for the handlers.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  // "http://127.0.0.1:8417", "https://[::1]:443".
  std::string url() const;
  int connections() const;

  // Stops to accept, ends event streams and idle connections and lets the other requests finish.
  // False if some still ran after `at_most`; they are cut.
  bool drain(std::chrono::milliseconds at_most);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::serve
