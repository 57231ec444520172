// The bytes of a connection: a socket, perhaps with TLS, deadlines, and what was read and is not
// used yet. Of HTTP it knows one answer, to a client that does not speak TLS. Everything runs on
// the I/O thread. Also: Asio for the server's sources.
#pragma once

// g++ cannot compile fences for ThreadSanitizer; Asio's mutexes order its operations without them.
#if defined(__SANITIZE_THREAD__)
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif
// Asio allocates coroutine frames in a way that g++ 12 takes for a mistake when it inlines it.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http/server.h"

namespace hum::serve {

namespace asio = boost::asio;
using asio::awaitable;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

// Operations with this token return an error instead of throwing it.
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<>> kTuple{};

class Wire : public std::enable_shared_from_this<Wire> {
 public:
  // `tls`: nullptr for none. It and the options must outlive this object.
  Wire(tcp::socket socket, asio::ssl::context* tls, const ServerOptions& options);

  const std::string& peer() const { return peer_; }                    // address of the client
  const std::string& local_address() const { return local_address_; }  // that it connected to
  bool has_tls() const { return tls_.has_value(); }

  // Before all else. False if the client does not speak TLS as it should.
  awaitable<bool> start();

  std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  // The first bytes of unread() were used.
  void use(size_t bytes) { begin_ += bytes; }
  bool is_full() const { return begin_ == 0 && end_ == capacity_; }
  // Reads more. False at the end, on an error (then timed_out() says whether it was the deadline)
  // and if there is no room.
  awaitable<bool> fill(Clock::time_point deadline);
  bool timed_out() const { return timed_out_; }
  // Frees the buffer of a connection from which nothing more is read.
  void end_reading();
  // Waits until the client sends something or is gone; returns whether it is gone.
  awaitable<bool> loses_peer();

  // False if the client is gone or takes nothing for the write time-out.
  awaitable<bool> send(std::string_view bytes);

  // Lets the client read the last response although it may still send.
  awaitable<void> close_gently(bool still_sends);
  // Ends what waits.
  void cancel();
  void close();

 private:
  void arm(Clock::time_point deadline);
  void disarm();
  awaitable<void> refuse_plain();

  const ServerOptions& options_;
  tcp::socket socket_;
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
  std::string peer_, local_address_;

  asio::steady_timer deadline_;
  int64_t deadline_turn_ = 0;
  bool timed_out_ = false;

  std::unique_ptr<char[]> buffer_;
  size_t capacity_, begin_ = 0, end_ = 0;
};

// A whole response, for a client whose request is not read; the connection ends after it.
std::string closing_text(const Response& response);

}  // namespace hum::serve
