#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>
#include <utility>

#include "serve/http/wire_impl.h"

namespace hum::serve {
namespace {

constexpr int64_t kReadBytes = 64 << 10;
constexpr std::chrono::seconds kLinger{2};

std::string address_text(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

}  // namespace

Wire::Wire(tcp::socket socket, asio::ssl::context* tls, const ServerOptions& options)
    : options_(options),
      socket_(std::move(socket)),
      deadline_(socket_.get_executor()),
      capacity_(static_cast<size_t>(std::max(kReadBytes, options.header_bytes + 1024))) {
  if (tls != nullptr) tls_.emplace(socket_, *tls);
  error_code ignored;
  const auto peer = socket_.remote_endpoint(ignored);
  const auto local = socket_.local_endpoint(ignored);
  peer_ = address_text(peer.address());
  local_address_ = address_text(local.address());
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
}

void Wire::arm(Clock::time_point deadline) {
  timed_out_ = false;
  const int64_t turn = ++deadline_turn_;
  deadline_.expires_at(deadline);
  deadline_.async_wait([self = shared_from_this(), turn](const error_code& error) {
    if (error || turn != self->deadline_turn_) return;
    self->timed_out_ = true;
    error_code ignored;
    self->socket_.cancel(ignored);
  });
}

void Wire::disarm() {
  ++deadline_turn_;
  deadline_.cancel();
}

awaitable<bool> Wire::fill(Clock::time_point deadline) {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  if (begin_ > 0) {
    std::copy(buffer_.get() + begin_, buffer_.get() + end_, buffer_.get());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == capacity_) co_return false;
  const asio::mutable_buffer room(buffer_.get() + end_, capacity_ - end_);
  arm(deadline);
  std::tuple<error_code, size_t> result;
  if (tls_) {
    result = co_await tls_->async_read_some(room, kTuple);
  } else {
    result = co_await socket_.async_read_some(room, kTuple);
  }
  disarm();
  if (std::get<0>(result)) co_return false;
  timed_out_ = false;
  end_ += std::get<1>(result);
  co_return true;
}

awaitable<bool> Wire::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const asio::const_buffer buffer(bytes.data(), bytes.size());
    arm(Clock::now() + options_.write_timeout);
    std::tuple<error_code, size_t> result;
    if (tls_) {
      result = co_await tls_->async_write_some(buffer, kTuple);
    } else {
      result = co_await socket_.async_write_some(buffer, kTuple);
    }
    disarm();
    if (std::get<0>(result)) co_return false;
    bytes.remove_prefix(std::get<1>(result));
  }
  co_return true;
}

awaitable<bool> Wire::start() {
  if (!tls_) co_return true;
  arm(Clock::now() + options_.header_timeout);
  const auto [waited] = co_await socket_.async_wait(tcp::socket::wait_read, kTuple);
  char first = 0;
  recv(socket_.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  const bool is_plain = first >= 'A' && first <= 'Z';  // of a method; TLS begins with 0x16
  if (!waited && is_plain) co_await refuse_plain();
  error_code error = waited;
  if (!waited && !is_plain) {
    std::tie(error) = co_await tls_->async_handshake(asio::ssl::stream_base::server, kTuple);
  }
  disarm();
  co_return !error && !is_plain;
}

// Browsers begin without TLS if nobody tells them otherwise.
awaitable<void> Wire::refuse_plain() {
  std::array<char, 4096> request{};
  co_await socket_.async_read_some(asio::buffer(request), kTuple);
  const std::string text =
      closing_text(problem(400, "this port speaks HTTPS: begin the address with https://"));
  co_await socket_.async_write_some(asio::buffer(text), kTuple);  // fits the empty send buffer
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

awaitable<void> Wire::close_gently(bool still_sends) {
  const auto deadline = Clock::now() + kLinger;
  if (tls_) {
    // Sends our close_notify, then waits for the client's. An error is no concern.
    arm(std::min(deadline, Clock::now() + std::chrono::seconds(1)));
    co_await tls_->async_shutdown(kTuple);
    disarm();
    tls_.reset();
  }
  // Closing with unread bytes would reset the connection before the client reads the response.
  still_sends = still_sends || begin_ != end_;
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  while (still_sends) {
    begin_ = end_ = 0;
    const bool filled = co_await fill(deadline);
    if (!filled) break;
  }
}

void Wire::end_reading() {
  buffer_.reset();
  begin_ = end_ = 0;
}

awaitable<bool> Wire::loses_peer() {
  const auto [error] = co_await socket_.async_wait(tcp::socket::wait_read, kTuple);
  if (error) co_return false;
  char byte = 0;
  const ssize_t count = recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  co_return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

void Wire::cancel() {
  error_code ignored;
  socket_.cancel(ignored);
}

void Wire::close() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace hum::serve
