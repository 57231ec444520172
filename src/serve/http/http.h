// The service's HTTP/1.1: requests, responses, a router and the server. Nothing here knows jobs.
// The server (Boost.Asio, Beast's parser) has one I/O thread; handlers run on a small pool.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"

namespace hum::serve {

// ---- Requests ----

// Header fields in the order of arrival. Names compare without regard to case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}

  void add(std::string name, std::string value);
  // Replaces all values of the name.
  void set(std::string_view name, std::string value);
  // The first value.
  std::optional<std::string_view> find(std::string_view name) const;
  // The first value, or "".
  std::string_view get(std::string_view name) const { return find(name).value_or(""); }
  std::vector<std::string_view> all(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name).has_value(); }
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// A file that is removed together with the object, unless it was moved away.
class SpooledFile {
 public:
  SpooledFile() = default;
  explicit SpooledFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~SpooledFile();
  SpooledFile(SpooledFile&& other) noexcept : path_(other.release()) {}
  SpooledFile& operator=(SpooledFile&& other) noexcept;

  bool empty() const { return path_.empty(); }
  const std::filesystem::path& path() const { return path_; }
  // Renames the file (same file system). Throws: kCannotCreate.
  void move_to(const std::filesystem::path& target);
  // The caller takes over the file.
  std::filesystem::path release();

 private:
  std::filesystem::path path_;
};

// One part of a multipart/form-data body. Parts that the route lists in `file_parts` are files,
// whether or not the client calls them so; all others are text.
struct Part {
  std::string name;
  std::string file_name;  // as the client wrote it: not a path, not for logs
  std::string content_type;
  std::string text;
  SpooledFile file;
  int64_t size_bytes = 0;
  std::string sha256;  // of a file, lower-case hex
};

struct Request {
  std::string method;  // a HEAD request calls the GET handler
  std::string path;    // as sent, without the query
  std::string route;   // the pattern that matched: the only form of the path for logs and metrics
  // The pattern's names. A value is decoded UTF-8, not empty, not "." or "..", without "/" and
  // control characters.
  std::map<std::string, std::string> parameters;
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  Headers headers;
  std::string peer;     // the client's address, from X-Forwarded-For if a listed proxy sent it
  bool secure = false;  // arrived over TLS
  std::string caller;   // for ServerOptions::admit to set
  std::string body;     // empty if multipart
  std::vector<Part> parts;

  // Throws: HUM_CHECK if the pattern has no such name.
  const std::string& parameter(const std::string& name) const;
  // The first value in the query.
  std::optional<std::string> query_value(std::string_view name) const;
  std::optional<std::string> cookie(std::string_view name) const;
  // nullptr if there is none; with several, the first.
  Part* part(std::string_view name);
};

// ---- Responses ----

// Wakes those who wait for a change. Any thread may call any function.
class Signal {
 public:
  // Ends the subscription when destroyed. The callback may still run once in another thread.
  using Subscription = std::shared_ptr<std::function<void()>>;

  void notify();
  // The callback runs in the thread that notifies; it must be short and must not throw.
  [[nodiscard]] Subscription subscribe(std::function<void()> callback);
  int subscribers() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<std::function<void()>>> callbacks_;
};

struct Event {
  std::string id;     // without line ends
  std::string event;  // without line ends; "" for the default, "message"
  std::string data;   // may have several lines
};

// Server-sent events: a short log that any number of responses send, each at its own pace. Any
// thread may call any function. A response ends after close(); its browser then connects again,
// unless the page has closed its EventSource.
class EventStream {
 public:
  // keep: how many events stay for those who come later or are slow. 1 suits events that each
  // replace the one before.
  explicit EventStream(size_t keep = 256) : keep_(keep) {}

  void push(const Event& event);
  // The responses end when they have sent everything.
  void close();
  bool is_closed() const;
  // Responses that are sending.
  int listeners() const { return signal_.subscribers(); }

  // For the server. Where a response starts: after the event with this id, else at the oldest kept.
  int64_t position_after(std::string_view id) const;
  struct Batch {
    std::string frames;  // "id: 3\nevent: progress\ndata: {}\n\n", several
    int64_t next = 0;    // where to read on
    bool end = false;    // closed, and nothing more to send
  };
  // Skips what is no longer kept.
  Batch read(int64_t position, size_t most_bytes) const;
  Signal& signal() { return signal_; }

 private:
  mutable std::mutex mutex_;
  size_t keep_;
  bool closed_ = false;
  int64_t first_ = 0;                                       // position of frames_.front()
  std::deque<std::pair<std::string, std::string>> frames_;  // id, frame
  Signal signal_;
};

// A whole file: Range, If-Range, If-None-Match, HEAD. 404 if it is missing.
struct FileBody {
  std::filesystem::path path;
  std::string etag;  // quoted, strong; "": made from inode, size and time of change
};

// How far a file that another process writes may be read.
struct Growth {
  int64_t bytes = 0;
  enum State { kGrows, kComplete, kBroken } state = kGrows;
};

// A file that still grows, sent in chunks as it does. kBroken cuts the connection, so that the
// client cannot take the part for the whole. The growth is asked for (on the pool, never by two
// threads at once) when the signal notifies and at least every `poll`.
struct GrowingFileBody {
  std::filesystem::path path;
  std::function<Growth()> growth;
  std::shared_ptr<Signal> signal;  // may be nullptr
  std::chrono::milliseconds poll{100};
};

// Pings every 15 s. `last_event_id`: the request's header Last-Event-ID, for position_after.
struct EventBody {
  std::shared_ptr<EventStream> events;
  std::string last_event_id;
};

struct Response {
  int status = 200;
  std::string content_type;  // "" for none
  std::variant<std::string, FileBody, GrowingFileBody, EventBody> body;
  // An ETag here answers If-None-Match by 304. Cache-Control is no-store unless it is set here.
  Headers headers;
};

Response json_response(int status, const Json& value);
// application/problem+json (RFC 9457): {"type", "title", "status", "detail"} and the members of
// `more`.
Response problem(int status, std::string detail);
Response problem(int status, std::string detail, const Json& more);
// kUsage, kBadData: 422; kNoInput: 404; kNoPermission: 403; kUnavailable, kTemporary: 503 with
// Retry-After; kCannotCreate: 507; all others: 500 without the message. A hint becomes "hint".
Response problem(const Error& error);
std::string_view status_text(int status);

// ---- Routes ----

// May throw hum::Error (see `problem`); anything else is a 500. May move files out of the request.
using Handler = std::function<Response(Request&)>;

struct RouteLimits {
  int64_t body_bytes = 64 << 10;  // a body that is not multipart, or all text parts of one that is
  int64_t form_bytes = 0;         // a whole multipart body; 0: the route takes none (415)
  std::vector<std::string> file_parts = {};  // names of the parts that are files
  int64_t file_bytes = INT64_MAX;            // of each of them
  // All other parts; a part of another name is a 422. Absent: any name.
  std::optional<std::vector<std::string>> text_parts = {};
  std::vector<std::string> media_types = {};  // of a body; another one is a 415. Empty: any
  std::string hint = {};                      // what to send; part of that 415 and 422
  // A page of another origin may not even read from it, because reading starts work (403).
  bool own_pages_only = false;
};

struct Route {
  std::string method, pattern;
  Handler handler;
  RouteLimits limits;
  std::vector<std::string> segments;
};

// Paths with names for whole segments: "/v1/jobs/{id}/results/{name}". A fixed segment wins over a
// name. Routes that differ only in their names are a bug (HUM_CHECK).
class Router {
 public:
  void add(std::string method, std::string pattern, Handler handler, RouteLimits limits = {});

  struct Match {
    const Route* route = nullptr;
    std::map<std::string, std::string> parameters;
    std::string allow;  // the path's methods; empty if no route has this path
  };
  // segments: decoded. HEAD matches GET.
  Match match(std::string_view method, const std::vector<std::string>& segments) const;
  // If a route has file parts.
  bool takes_files() const;

 private:
  std::vector<std::unique_ptr<Route>> routes_;  // stable addresses
};

// ---- The server ----

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
  // for a bad certificate; what ListeningSocket throws.
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
