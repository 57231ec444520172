// Writes responses: text, files, files that still grow, and event streams.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "base/log.h"
#include "serve/http/access.h"
#include "serve/http/conditions.h"
#include "serve/http/server_impl.h"

namespace hum::serve {
namespace {

constexpr int64_t kPieceBytes = 128 << 10;

bool has_no_body(int status) { return status == 204 || status == 304 || status < 200; }

// Reads until `bytes` are there or the file ends. False on an error.
bool read_piece(const Descriptor& file, int64_t offset, int64_t bytes, std::string& piece) {
  const size_t before = piece.size();
  piece.resize(before + static_cast<size_t>(bytes));
  size_t filled = before;
  while (filled < piece.size()) {
    const ssize_t count = pread(file.number(), piece.data() + filled, piece.size() - filled,
                                offset + static_cast<int64_t>(filled - before));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    filled += static_cast<size_t>(count);
  }
  const bool whole = filled == piece.size();
  piece.resize(filled);
  return whole;
}

// Counts a stream while it lives.
class StreamCount {
 public:
  explicit StreamCount(int& count) : count_(count) { ++count_; }
  ~StreamCount() { --count_; }
  StreamCount(const StreamCount&) = delete;
  StreamCount& operator=(const StreamCount&) = delete;

 private:
  int& count_;
};

// Asks the handler's function, at a wall.
Growth growth_of(const GrowingFileBody& body) {
  try {
    return body.growth();
  } catch (const std::exception& error) {
    spdlog::error("a stream failed: {}", error.what());
    return {.bytes = 0, .state = Growth::kBroken};
  }
}

std::shared_ptr<Descriptor> open_file(const std::filesystem::path& path) {
  const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return number < 0 ? nullptr : std::make_shared<Descriptor>(number);
}

// Of a file that has no ETag: the same as long as nobody writes to it.
std::string etag_of(const struct stat& file) {
  return fmt::format("\"{:x}-{:x}-{:x}-{:x}\"", file.st_ino, file.st_size, file.st_mtim.tv_sec,
                     file.st_mtim.tv_nsec);
}

Outcome prepare_file(const Request& request, Response response) {
  const FileBody body = std::get<FileBody>(response.body);
  auto file = open_file(body.path);
  struct stat status {};
  if (!file || fstat(file->number(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {.response = problem(404, "the file no longer exists")};
  }
  const std::string etag = body.etag.empty() ? etag_of(status) : body.etag;
  const std::string modified = http_date(status.st_mtim.tv_sec);
  const Selection selection = select_bytes(request, status.st_size, etag, modified);
  const auto content_range = [&](const std::string& range) {
    return fmt::format("bytes {}/{}", range, status.st_size);
  };
  if (selection.status == 416 || selection.status == 412) {
    Response refusal =
        problem(selection.status, selection.status == 416 ? "the file has no such bytes"
                                                          : "the file is not the expected one");
    if (selection.status == 416) refusal.headers.set("Content-Range", content_range("*"));
    return {.response = std::move(refusal)};
  }
  response.status = selection.status;
  response.headers.set("ETag", etag);
  response.headers.set("Last-Modified", modified);
  response.headers.set("Accept-Ranges", "bytes");
  if (!response.headers.contains("cache-control")) {
    response.headers.set("Cache-Control", "private, no-cache");
  }
  if (selection.status == 206) {
    response.headers.set("Content-Range",
                         content_range(fmt::format("{}-{}", selection.first,
                                                   selection.first + selection.bytes - 1)));
  }
  return {.response = std::move(response),
          .file = std::move(file),
          .first = selection.first,
          .bytes = selection.bytes};
}

}  // namespace

Descriptor::~Descriptor() { close(number_); }

Outcome prepare(const Request& request, Response response) {
  if (std::holds_alternative<FileBody>(response.body)) {
    return prepare_file(request, std::move(response));
  }
  const auto etag = response.headers.find("etag");
  const auto known = request.headers.find("if-none-match");
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (etag && known && reads && response.status == 200 && names_etag(*known, *etag)) {
    response.status = 304;
    response.body = std::string();
  }
  return {.response = std::move(response)};
}

std::string closing_text(const Response& response) {
  const std::string& body = std::get<std::string>(response.body);
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", response.status,
                  status_text(response.status), response.content_type, body.size());
  for (const auto& [name, value] : response.headers.fields()) {
    text.append(name).append(": ").append(value).append("\r\n");
  }
  return text + "Connection: close\r\n\r\n" + body;
}

std::string Connection::head_text(const Response& response,
                                  std::optional<int64_t> content_length) const {
  Headers headers = response.headers;
  headers.set("Date", http_date(std::time(nullptr)));
  if (!response.content_type.empty() && response.status != 304) {
    headers.set("Content-Type", response.content_type);
  }
  if (content_length) headers.set("Content-Length", std::to_string(*content_length));
  if (chunked_) headers.set("Transfer-Encoding", "chunked");
  if (!headers.contains("cache-control")) headers.set("Cache-Control", "no-store");
  if (!keep_alive_) headers.set("Connection", "close");
  add_security_headers(headers);
  add_cors_headers(headers, parser_->head().headers, state_->options.cors_origins);
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, status_text(response.status));
  for (const auto& [name, value] : headers.fields()) {
    // A line end in a value would let its author write the rest of the response.
    if (std::ranges::any_of(value, [](unsigned char c) { return c < 0x20 && c != '\t'; })) {
      spdlog::error("a response's header {} has control characters; it is not sent", name);
      continue;
    }
    text.append(name).append(": ").append(value).append("\r\n");
  }
  return text + "\r\n";
}

awaitable<bool> Connection::send_response(Outcome outcome) {
  Response& response = outcome.response;
  keep_alive_ = keep_alive_ && !state_->draining && !gone_;
  chunked_ = false;
  bool is_stream = std::holds_alternative<GrowingFileBody>(response.body) ||
                   std::holds_alternative<EventBody>(response.body);
  if (is_stream && state_->streams >= state_->options.max_streams) {
    response = problem(503, "too many streams are open; try again later");
    exchange_.status = response.status;
    is_stream = false;
  }
  const bool head_only = parser_->head().method == "HEAD";
  bool sent = false;
  if (is_stream) {
    sent = co_await send_stream(outcome, head_only);
  } else if (outcome.file) {
    sent = co_await send_file(outcome, head_only);
  } else {
    sent = co_await send_text(response, head_only);
  }
  co_return sent;
}

awaitable<bool> Connection::send_text(const Response& response, bool head_only) {
  const std::string& body = std::get<std::string>(response.body);
  const auto bytes = static_cast<int64_t>(body.size());
  const bool no_body = has_no_body(response.status);
  std::string text = head_text(response, no_body ? std::nullopt : std::optional(bytes));
  if (!head_only && !no_body) {
    text += body;
    exchange_.sent_bytes += bytes;
  }
  const bool sent = co_await send(text);
  co_return sent;
}

// The head leaves together with the first piece.
awaitable<bool> Connection::send_file(const Outcome& outcome, bool head_only) {
  const bool no_body = has_no_body(outcome.response.status);
  std::string piece =
      head_text(outcome.response, no_body ? std::nullopt : std::optional(outcome.bytes));
  int64_t offset = outcome.first;
  int64_t left = head_only || no_body ? 0 : outcome.bytes;
  do {
    const int64_t wanted = std::min(left, kPieceBytes);
    const Descriptor& file = *outcome.file;
    auto read = [&file, offset, wanted, &piece] { return read_piece(file, offset, wanted, piece); };
    bool whole = true;
    if (wanted > 0) whole = co_await on_pool(*state_, read);
    if (!whole) co_return false;  // the file became shorter
    const bool sent = co_await send(piece);
    if (!sent) co_return false;
    exchange_.sent_bytes += wanted;
    offset += wanted;
    left -= wanted;
    piece.clear();
  } while (left > 0);
  co_return true;
}

// ---- Streams ----

awaitable<bool> Connection::send_stream(Outcome& outcome, bool head_only) {
  Response& response = outcome.response;
  const auto* events = std::get_if<EventBody>(&response.body);
  if (events != nullptr) {
    response.content_type = "text/event-stream";
    response.headers.set("X-Accel-Buffering", "no");
  } else {
    response.headers.set("Accept-Ranges", "none");
  }
  keep_alive_ = false;
  chunked_ = parser_->head().http_11;
  const std::string head = head_text(response, std::nullopt);
  bool sent = co_await send(head);
  if (!sent || head_only) co_return sent;
  buffer_.reset();  // nothing more is read, and many streams may be open
  begin_ = end_ = 0;
  woken_ = false;
  const StreamCount count(state_->streams);
  asio::co_spawn(state_->io, watch_peer(shared_from_this()), asio::detached);
  if (events != nullptr) {
    sent = co_await send_events(*events, outcome.request);
  } else {
    sent = co_await send_growing(std::get<GrowingFileBody>(response.body), outcome.request);
  }
  if (sent && chunked_) sent = co_await send("0\r\n\r\n");
  co_return sent;
}

awaitable<bool> Connection::send_chunk(std::string_view bytes) {
  exchange_.sent_bytes += static_cast<int64_t>(bytes.size());
  std::string framed;
  if (chunked_) {
    framed = fmt::format("{:x}\r\n", bytes.size());
    framed.append(bytes).append("\r\n");
    bytes = framed;
  }
  const bool sent = co_await send(bytes);
  co_return sent;
}

awaitable<bool> Connection::is_still_admitted(const std::shared_ptr<Request>& request) {
  const ServerOptions& options = state_->options;
  if (!options.admit || Clock::now() < admitted_ + options.ping_interval) co_return true;
  const std::optional<Response> refused = co_await admit(request);
  admitted_ = Clock::now();
  co_return !refused;
}

awaitable<bool> Connection::send_growing(const GrowingFileBody& body,
                                         const std::shared_ptr<Request>& request) {
  const Signal::Subscription subscription = subscribe(body.signal.get());
  std::shared_ptr<Descriptor> file;
  int64_t sent_bytes = 0;
  std::string piece;
  while (!gone_) {
    auto look = [&body, &file] {
      const Growth growth = growth_of(body);
      if (!file && growth.bytes > 0) file = open_file(body.path);
      return growth;
    };
    const Growth growth = co_await on_pool(*state_, look);
    while (sent_bytes < growth.bytes && !gone_) {
      const int64_t wanted = std::min(growth.bytes - sent_bytes, kPieceBytes);
      piece.clear();
      auto read = [&file, sent_bytes, wanted, &piece] {
        return file && read_piece(*file, sent_bytes, wanted, piece);
      };
      const bool whole = co_await on_pool(*state_, read);
      if (!whole) co_return false;
      const bool sent = co_await send_chunk(piece);
      if (!sent) co_return false;
      sent_bytes += wanted;
    }
    if (growth.state == Growth::kBroken) co_return false;
    if (growth.state == Growth::kComplete && sent_bytes >= growth.bytes) co_return true;
    const bool is_admitted = co_await is_still_admitted(request);
    if (!is_admitted) co_return false;
    co_await sleep(std::min(body.poll, state_->options.ping_interval));
  }
  co_return false;
}

awaitable<bool> Connection::send_events(const EventBody& body,
                                        const std::shared_ptr<Request>& request) {
  EventStream& events = *body.events;
  const Signal::Subscription subscription = subscribe(&events.signal());
  const std::string retry = fmt::format("retry: {}\n\n", state_->options.event_retry.count());
  bool sent = co_await send_chunk(retry);
  int64_t position = events.position_after(body.last_event_id);
  auto last_sent = Clock::now();
  while (sent && !gone_) {
    const bool is_admitted = co_await is_still_admitted(request);
    if (!is_admitted) co_return true;
    const EventStream::Batch batch = events.read(position, kPieceBytes);
    position = batch.next;
    if (!batch.frames.empty()) {
      sent = co_await send_chunk(batch.frames);
      last_sent = Clock::now();
      continue;
    }
    if (batch.end || state_->draining) co_return true;
    if (Clock::now() >= last_sent + state_->options.ping_interval) {
      sent = co_await send_chunk(": ping\n\n");
      last_sent = Clock::now();
      continue;
    }
    const auto left = last_sent + state_->options.ping_interval - Clock::now();
    co_await sleep(std::chrono::ceil<std::chrono::milliseconds>(left));
  }
  co_return false;
}

Signal::Subscription Connection::subscribe(Signal* signal) {
  if (signal == nullptr) return nullptr;
  return signal->subscribe([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->wake_posted_.exchange(true)) return;
    asio::post(self->state_->io, [weak] {
      if (const auto connection = weak.lock()) {
        connection->wake_posted_ = false;
        connection->wake();
      }
    });
  });
}

void Connection::wake() {
  woken_ = true;
  wake_timer_.cancel();
}

awaitable<void> Connection::sleep(std::chrono::milliseconds at_most) {
  if (!woken_) {
    wake_timer_.expires_after(at_most);
    co_await wake_timer_.async_wait(kTuple);
  }
  woken_ = false;
}

// Notices that the client of a stream has gone. Stops watching if it sends something.
awaitable<void> Connection::watch_peer(std::shared_ptr<Connection> self) {
  const auto [error] = co_await self->socket_.async_wait(tcp::socket::wait_read, kTuple);
  if (error) co_return;
  char byte = 0;
  const ssize_t count = recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))) co_return;
  self->gone_ = true;
  self->wake();
}

}  // namespace hum::serve
