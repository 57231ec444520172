// What the server's sources share: state of the server, and one object per connection. Everything
// runs on the I/O thread except what `on_pool` runs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_set>

#include "serve/http/body_reader.h"
#include "serve/http/request_parser.h"
#include "serve/http/server.h"
#include "serve/http/wire_impl.h"

namespace hum::serve {

class Connection;

// How much of a file or of events is sent at once.
inline constexpr int64_t kPieceBytes = 128 << 10;

// A certificate and its key, read again when their files change.
class TlsFiles {
 public:
  // PEM files. Throws: kUsage if they cannot be used together; kNoInput, kNoPermission. The log
  // says so if the certificate is not valid now.
  TlsFiles(std::filesystem::path certificate, std::filesystem::path key);

  // For a new connection; those from before keep theirs. Files that have changed and cannot be used
  // change nothing, and a certificate that is not valid waits while the one from before is; the log
  // says why.
  asio::ssl::context& current();

 private:
  std::string stamps() const;
  void read_again();

  std::filesystem::path certificate_, key_;
  std::string seen_;
  asio::ssl::context context_;
  std::optional<asio::ssl::context> next_;  // read, and not used yet
};

struct ServerState {
  ServerState(ServerOptions given, Router routes)
      : options(std::move(given)),
        router(std::move(routes)),
        pool(static_cast<size_t>(options.handler_threads)) {
    if (!options.tls_certificate.empty()) tls.emplace(options.tls_certificate, options.tls_key);
  }

  ServerOptions options;
  Router router;
  asio::io_context io{1};

  // Only for the I/O thread.
  std::optional<TlsFiles> tls;  // whether there is one: for all
  std::unordered_set<Connection*> connections;
  bool draining = false;
  int streams = 0;

  // For drain() and the destructor.
  std::mutex mutex;
  std::condition_variable changed;
  int open_connections = 0;
  bool accepts = true;

  asio::thread_pool pool;  // ends first
};

template <class Task>
awaitable<std::invoke_result_t<Task>> as_coroutine(Task task) {
  co_return task();
}

// Runs task() on the pool; rethrows what it throws.
template <class Task>
awaitable<std::invoke_result_t<Task>> on_pool(ServerState& state, Task task) {
  co_return co_await asio::co_spawn(state.pool.get_executor(), as_coroutine(std::move(task)),
                                    asio::use_awaitable);
}

// A file whose bytes are sent.
class SentFile {
 public:
  // nullptr if it cannot be opened.
  static std::shared_ptr<SentFile> open(const std::filesystem::path& path);
  explicit SentFile(int descriptor) : number_(descriptor) {}
  ~SentFile();
  SentFile(const SentFile&) = delete;
  SentFile& operator=(const SentFile&) = delete;

  int number() const { return number_; }
  // Adds bytes from `offset` on to the piece. False if the file ends before, or on an error.
  bool read(int64_t offset, int64_t bytes, std::string& piece) const;

 private:
  int number_;
};

// A response with what the pool has prepared for it.
struct Outcome {
  Response response;
  std::shared_ptr<SentFile> file;    // of a FileBody that is to be sent
  int64_t first = 0, bytes = 0;      // of the file
  std::shared_ptr<Request> request;  // that a handler has answered
};

// Opens the file of a FileBody and selects its bytes; answers If-None-Match. May block. In
// prepare.cpp.
Outcome prepare(const Request& request, Response response);

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerState> state, tcp::socket socket);

  // Serves requests until the connection ends. The caller keeps the object alive.
  awaitable<void> run();
  // Lets the connection end after the request that it serves.
  void drain();
  void cut();

 private:
  // ---- connection.cpp: requests ----
  // False: the connection ends.
  awaitable<bool> serve_one();
  awaitable<bool> read_head();
  awaitable<Outcome> answer();
  std::optional<Response> find_route(Request& request, const Route*& route);
  awaitable<std::optional<Response>> admit(const std::shared_ptr<Request>& request);
  awaitable<Outcome> call_handler(const std::shared_ptr<Request>& request, const Route* route);
  awaitable<std::optional<Refusal>> meet_expectation();
  awaitable<std::optional<Refusal>> read_body(BodyReader& reader, bool on_io_thread);
  Clock::time_point body_deadline(Clock::time_point start) const;
  void finish_exchange(bool complete);

  // ---- send.cpp: responses ----
  // False if the connection must end.
  awaitable<bool> send_response(Outcome outcome);
  std::string head_text(const Response& response, std::optional<int64_t> content_length) const;
  awaitable<bool> send_text(const Response& response, bool head_only);
  awaitable<bool> send_file(const Outcome& outcome, bool head_only);

  // ---- send_streams.cpp ----
  awaitable<bool> send_stream(Outcome& outcome, bool head_only);
  awaitable<bool> send_growing(const GrowingFileBody& body,
                               const std::shared_ptr<Request>& request);
  awaitable<bool> send_events(const EventBody& body, const std::shared_ptr<Request>& request);
  // Whether a stream may go on. Asks options.admit once per ping interval.
  awaitable<bool> is_still_admitted(const std::shared_ptr<Request>& request);
  awaitable<bool> send_chunk(std::string_view bytes);

  // Streams sleep until something changes. `signal` may be nullptr.
  Signal::Subscription subscribe(Signal* signal);
  void wake();
  awaitable<void> sleep(std::chrono::milliseconds at_most);
  static awaitable<void> watch_peer(std::shared_ptr<Connection> self);

  std::shared_ptr<ServerState> state_;
  std::shared_ptr<Wire> wire_;
  std::optional<RequestParser> parser_;
  std::optional<Refusal> early_refusal_;  // before the head is complete
  Exchange exchange_;
  Clock::time_point request_start_, admitted_;
  bool idle_ = false;        // between requests
  bool keep_alive_ = false;  // after this response
  bool chunked_ = false;     // a stream's framing: HTTP/1.1

  asio::steady_timer wake_timer_;
  bool woken_ = false;
  std::atomic<bool> wake_posted_ = false;
  bool gone_ = false;  // the client, or the server wants the connection to end
};

}  // namespace hum::serve
