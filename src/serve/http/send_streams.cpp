// Writes responses that take as long as what they tell: files that still grow, and event streams.
#include <algorithm>
#include <exception>

#include "base/log.h"
#include "serve/http/server_impl.h"

namespace hum::serve {
namespace {

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

}  // namespace

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
  bool sent = co_await wire_->send(head);
  if (!sent || head_only) co_return sent;
  wire_->end_reading();  // many streams may be open
  woken_ = false;
  const StreamCount count(state_->streams);
  asio::co_spawn(state_->io, watch_peer(shared_from_this()), asio::detached);
  if (events != nullptr) {
    sent = co_await send_events(*events, outcome.request);
  } else {
    sent = co_await send_growing(std::get<GrowingFileBody>(response.body), outcome.request);
  }
  if (sent && chunked_) sent = co_await wire_->send("0\r\n\r\n");
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
  const bool sent = co_await wire_->send(bytes);
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
  std::shared_ptr<SentFile> file;
  int64_t sent_bytes = 0;
  std::string piece;
  while (!gone_) {
    auto look = [&body, &file] {
      const Growth growth = growth_of(body);
      if (!file && growth.bytes > 0) file = SentFile::open(body.path);
      return growth;
    };
    const Growth growth = co_await on_pool(*state_, look);
    while (sent_bytes < growth.bytes && !gone_) {
      const int64_t wanted = std::min(growth.bytes - sent_bytes, kPieceBytes);
      piece.clear();
      auto read = [&file, sent_bytes, wanted, &piece] {
        return file && file->read(sent_bytes, wanted, piece);
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
  const bool is_gone = co_await self->wire_->loses_peer();
  if (!is_gone) co_return;
  self->gone_ = true;
  self->wake();
}

}  // namespace hum::serve
