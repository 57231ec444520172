// The service's HTTP/1.1: requests, responses and a router. The server is in server.h. Nothing in
// this folder knows jobs.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "serve/http/events.h"

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

}  // namespace hum::serve
