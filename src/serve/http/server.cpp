// Listens, accepts connections, and ends them.
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <thread>

#include "base/log.h"
#include "serve/http/server_impl.h"

namespace hum::serve {
namespace {

// Connections that are being told that there are too many.
constexpr int kMaxRefusing = 64;

// The program's signals are for its own threads, not for the server's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

asio::ip::address parse_address(const std::string& text) {
  error_code error;
  auto address = asio::ip::make_address(text == "localhost" ? "127.0.0.1" : text, error);
  if (error) {
    fail(ExitCode::kUsage, text + ": not an address to listen on",
         "name one in numbers: 127.0.0.1, 0.0.0.0 or ::1");
  }
  return address;
}

[[noreturn]] void fail_to_listen(const std::string& where, const error_code& error) {
  if (error == boost::system::errc::address_in_use) {
    fail(ExitCode::kUnavailable, where + ": another program listens there",
         "choose another port; 0 takes any free one");
  }
  if (error == boost::system::errc::permission_denied) {
    fail(ExitCode::kNoPermission, where + ": this user may not listen there",
         "choose a port above 1023");
  }
  fail(ExitCode::kUsage, where + ": cannot listen there: " + error.message(),
       "name an address of this machine");
}

// Tells a client that there are too many connections.
awaitable<void> refuse(std::shared_ptr<ServerState> state, std::shared_ptr<tcp::socket> socket,
                       int& refusing) {
  const std::string text =
      closing_text(problem(503, "too many connections are open; try again later"));
  // Closing with an unread request would reset the connection before the client reads the response.
  asio::steady_timer timer(state->io, std::chrono::milliseconds(200));
  timer.async_wait([socket](const error_code& error) {
    error_code ignored;
    if (!error) socket->cancel(ignored);
  });
  std::array<char, 4096> request{};
  co_await socket->async_read_some(asio::buffer(request), kTuple);
  timer.cancel();
  co_await socket->async_write_some(asio::buffer(text), kTuple);  // fits the empty send buffer
  error_code ignored;
  socket->shutdown(tcp::socket::shutdown_send, ignored);
  --refusing;
}

}  // namespace

ListeningSocket::ListeningSocket(const std::string& address, int port) {
  HUM_REQUIRE(port >= 0 && port < 65536, "{} is not a port", port);
  const tcp::endpoint endpoint(parse_address(address), static_cast<unsigned short>(port));
  // Not Asio's acceptor.open(): a child process must not inherit the socket.
  descriptor_ = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                         IPPROTO_TCP);
  const int yes = 1;
  const bool listens =
      descriptor_ >= 0 &&
      ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      ::bind(descriptor_, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0 &&
      ::listen(descriptor_, SOMAXCONN) == 0;
  if (listens) return;
  const error_code error(errno, boost::system::system_category());
  if (descriptor_ >= 0) ::close(descriptor_);
  fail_to_listen(address + ":" + std::to_string(port), error);
}

ListeningSocket::~ListeningSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

struct HttpServer::Impl {
  std::shared_ptr<ServerState> state;
  tcp::acceptor acceptor;
  tcp protocol = tcp::v4();
  asio::executor_work_guard<asio::io_context::executor_type> work;
  int refusing = 0;
  int port = 0;
  std::thread thread;

  Impl(ServerOptions options, Router router)
      : state(std::make_shared<ServerState>(std::move(options), std::move(router))),
        acceptor(state->io),
        work(state->io.get_executor()) {}

  void listen(ListeningSocket socket);
  awaitable<void> accept_connections();
  void take(int descriptor);
  void serve(std::shared_ptr<Connection> connection);
  void stop_accepting();
};

void HttpServer::Impl::listen(ListeningSocket socket) {
  protocol = parse_address(state->options.address).is_v6() ? tcp::v6() : tcp::v4();
  acceptor.assign(protocol, socket.release());
  port = acceptor.local_endpoint().port();
}

awaitable<void> HttpServer::Impl::accept_connections() {
  asio::steady_timer pause(state->io);
  while (acceptor.is_open()) {
    const auto [error] = co_await acceptor.async_wait(tcp::acceptor::wait_read, kTuple);
    if (error) co_return;
    const int descriptor =
        accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      take(descriptor);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      warn_once("accept", "too many files are open: new connections wait");
      pause.expires_after(std::chrono::milliseconds(100));
      co_await pause.async_wait(kTuple);
    }
  }
}

// Must not throw: the server would accept nothing more.
void HttpServer::Impl::take(int descriptor) try {
  tcp::socket socket(state->io, protocol, descriptor);
  const auto most = static_cast<size_t>(state->options.max_connections);
  if (state->connections.size() < most) {
    serve(std::make_shared<Connection>(state, std::move(socket)));
  } else if (refusing < kMaxRefusing && !state->tls) {
    ++refusing;
    auto shared = std::make_shared<tcp::socket>(std::move(socket));
    asio::co_spawn(state->io, refuse(state, std::move(shared), refusing), asio::detached);
  }
} catch (const std::exception& error) {
  spdlog::error("a connection cannot be served: {}", error.what());
}

void HttpServer::Impl::serve(std::shared_ptr<Connection> connection) {
  state->connections.insert(connection.get());
  {
    const std::lock_guard lock(state->mutex);
    ++state->open_connections;
  }
  Connection& running = *connection;
  asio::co_spawn(state->io, running.run(),
                 [held = state, connection](const std::exception_ptr& thrown) {
                   held->connections.erase(connection.get());
                   try {
                     if (thrown) std::rethrow_exception(thrown);
                   } catch (const std::exception& error) {
                     spdlog::error("a connection failed: {}", error.what());
                   }
                   if (thrown) connection->cut();
                   const std::lock_guard lock(held->mutex);
                   --held->open_connections;
                   held->changed.notify_all();
                 });
}

void HttpServer::Impl::stop_accepting() {
  error_code ignored;
  acceptor.close(ignored);
  state->draining = true;
  for (Connection* connection : state->connections) connection->drain();
  const std::lock_guard lock(state->mutex);
  state->accepts = false;
  state->changed.notify_all();
}

HttpServer::HttpServer(ServerOptions options, Router router,
                       std::optional<ListeningSocket> socket) {
  HUM_CHECK(!router.takes_files() || !options.spool_folder.empty());
  const SignalsBlocked blocked;  // also for the pool's threads
  impl_ = std::make_unique<Impl>(std::move(options), std::move(router));
  if (!socket) socket.emplace(impl_->state->options.address, impl_->state->options.port);
  impl_->listen(std::move(*socket));
  asio::co_spawn(impl_->state->io, impl_->accept_connections(), asio::detached);
  impl_->thread = std::thread([state = impl_->state] { state->io.run(); });
}

HttpServer::~HttpServer() {
  const std::shared_ptr<ServerState> state = impl_->state;
  drain(std::chrono::milliseconds(0));
  impl_->work.reset();
  impl_->thread.join();  // ends when all connections have ended, and their handlers
  state->pool.join();
}

int HttpServer::port() const { return impl_->port; }

std::string HttpServer::url() const {
  const ServerOptions& options = impl_->state->options;
  const bool is_v6 = options.address.find(':') != options.address.npos;
  return fmt::format("{}://{}{}{}:{}", impl_->state->tls ? "https" : "http", is_v6 ? "[" : "",
                     options.address, is_v6 ? "]" : "", port());
}

int HttpServer::connections() const {
  const std::lock_guard lock(impl_->state->mutex);
  return impl_->state->open_connections;
}

bool HttpServer::drain(std::chrono::milliseconds at_most) {
  ServerState& state = *impl_->state;
  asio::post(state.io, [impl = impl_.get()] { impl->stop_accepting(); });
  const auto has_ended = [&state] { return !state.accepts && state.open_connections == 0; };
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&state] { return !state.accepts; });
  const bool ended = state.changed.wait_for(lock, at_most, has_ended);
  lock.unlock();
  if (!ended) {
    asio::post(state.io, [&state] {
      for (Connection* connection : state.connections) connection->cut();
    });
  }
  return ended;
}

}  // namespace hum::serve
