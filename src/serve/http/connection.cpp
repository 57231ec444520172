// Reads requests from a connection and has them answered.
#include <algorithm>
#include <array>
#include <exception>

#include "base/elapsed.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "serve/http/access.h"
#include "serve/http/server_impl.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace {

// Metrics count by method: its name must not come from the client.
bool is_known(std::string_view method) {
  constexpr std::array kMethods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  return std::ranges::find(kMethods, method) != kMethods.end();
}

Response to_response(const Refusal& refusal) {
  return problem(refusal.status, refusal.detail,
                 refusal.hint.empty() ? Json() : Json{{"hint", refusal.hint}});
}

Outcome to_outcome(Response response) {
  Outcome outcome;
  outcome.response = std::move(response);
  return outcome;
}

// Runs what the user of the server wrote.
template <class Work>
Response guarded(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    return problem(error);
  } catch (const std::exception& error) {
    spdlog::error("a request failed: {}", error.what());
  } catch (...) {
    spdlog::error("a request failed");
  }
  return problem(500, "the server has a fault; its log says more");
}

}  // namespace

Connection::Connection(std::shared_ptr<ServerState> state, tcp::socket socket)
    : state_(std::move(state)),
      wire_(std::make_shared<Wire>(
          std::move(socket), state_->tls ? &state_->tls->current() : nullptr, state_->options)),
      wake_timer_(state_->io) {}

awaitable<void> Connection::run() {
  bool alive = co_await wire_->start();
  while (alive && !gone_) alive = co_await serve_one();
  if (exchange_.complete && !gone_) co_await wire_->close_gently(!parser_->complete());
  wire_->close();
}

awaitable<bool> Connection::serve_one() {
  exchange_ = {};
  early_refusal_.reset();
  parser_.emplace(state_->options.header_bytes, state_->options.target_bytes);
  const bool has_request = co_await read_head();
  if (!has_request) co_return false;
  Outcome outcome = co_await answer();
  exchange_.status = outcome.response.status;
  const bool sent = co_await send_response(std::move(outcome));
  finish_exchange(sent);
  co_return sent&& keep_alive_;
}

void Connection::finish_exchange(bool complete) {
  exchange_.complete = complete;
  exchange_.seconds = seconds_since(request_start_);
  if (state_->options.finished) state_->options.finished(exchange_);
}

awaitable<bool> Connection::read_head() {
  auto deadline = Clock::now() + state_->options.idle_timeout;
  bool started = false;
  for (;;) {
    wire_->use(parser_->feed_head(wire_->unread()));
    if (!started && (parser_->got_some() || !wire_->unread().empty())) {
      started = true;
      request_start_ = Clock::now();
      deadline = request_start_ + state_->options.header_timeout;
    }
    if (parser_->refusal() || parser_->head_complete()) {
      early_refusal_ = parser_->refusal();
      co_return true;
    }
    if (!started && state_->draining) co_return false;
    idle_ = !started;
    const bool filled = co_await wire_->fill(deadline);
    idle_ = false;
    if (filled) continue;
    if (!started || !wire_->timed_out()) co_return false;
    early_refusal_ = Refusal{408, "the request's header did not arrive in time"};
    co_return true;
  }
}

// What needs neither the body nor the handler: the response to a request that is refused, or to
// OPTIONS. Otherwise sets the route.
std::optional<Response> Connection::find_route(Request& request, const Route*& route) {
  const RequestHead& head = parser_->head();
  auto target = parse_target(head.target);
  if (!target) return problem(400, "the path or the query is malformed");
  const auto& proxies = state_->options.proxies;
  const bool has_proxy = std::ranges::find(proxies, wire_->peer()) != proxies.end();
  request.secure =
      wire_->has_tls() || (has_proxy && head.headers.get("x-forwarded-proto") == "https");
  const auto refusal =
      check_origin(head, {target->authority, wire_->local_address(), request.secure},
                   state_->options.hosts, state_->options.cors_origins);
  if (refusal) return to_response(*refusal);
  Router::Match match = state_->router.match(head.method, target->segments);
  if (match.allow.empty()) return problem(404, "there is nothing at this address");
  if (match.route == nullptr) {
    Response response = head.method == "OPTIONS"
                            ? Response{.status = 204}
                            : problem(405, "this address does not take " +
                                               (head.method.size() < 20 ? head.method : "that"));
    response.headers.add("Allow", match.allow);
    return response;
  }
  route = match.route;
  exchange_.route = route->pattern;
  if (route->limits.own_pages_only) {
    if (const auto site = check_site(head, state_->options.cors_origins)) return to_response(*site);
  }
  request.method = head.method;
  request.path = std::move(target->path);
  request.route = route->pattern;
  request.parameters = std::move(match.parameters);
  request.query = std::move(target->query);
  request.headers = head.headers;
  request.peer = client_address(wire_->peer(), head.headers, proxies);
  return std::nullopt;
}

awaitable<Outcome> Connection::answer() {
  keep_alive_ = false;  // until the whole request is read
  const RequestHead& head = parser_->head();
  if (early_refusal_) co_return to_outcome(to_response(*early_refusal_));
  exchange_.method = is_known(head.method) ? head.method : "other";
  if (!head.has_body) keep_alive_ = head.keep_alive;

  auto request = std::make_shared<Request>();
  const Route* route = nullptr;
  std::optional<Response> response = find_route(*request, route);
  if (response) co_return to_outcome(std::move(*response));
  BodyReader reader(route->limits, state_->options.spool_folder);
  std::optional<Refusal> refusal = reader.begin(head);
  if (refusal) co_return to_outcome(to_response(*refusal));
  if (state_->options.admit) {
    response = co_await admit(request);
    if (response) co_return to_outcome(std::move(*response));
    admitted_ = Clock::now();
  }
  if (head.has_body) {
    refusal = co_await read_body(reader, route->limits.form_bytes == 0);
    if (refusal) co_return to_outcome(to_response(*refusal));
  }
  refusal = reader.finish(*request);
  if (refusal) co_return to_outcome(to_response(*refusal));
  keep_alive_ = head.keep_alive;
  Outcome outcome = co_await call_handler(request, route);
  outcome.request = request;
  co_return outcome;
}

awaitable<std::optional<Response>> Connection::admit(const std::shared_ptr<Request>& request) {
  auto work = [this, request]() -> std::optional<Response> {
    std::optional<Response> refused;
    Response failure = guarded([&]() -> Response {
      refused = state_->options.admit(*request);
      return {.status = 0};
    });
    if (failure.status != 0) refused = std::move(failure);
    return refused;
  };
  std::optional<Response> refused = co_await on_pool(*state_, std::move(work));
  co_return refused;
}

awaitable<Outcome> Connection::call_handler(const std::shared_ptr<Request>& request,
                                            const Route* route) {
  auto work = [request, route] {
    Outcome outcome;
    Response response = guarded([&] { return route->handler(*request); });
    response = guarded([&]() -> Response {
      outcome = prepare(*request, std::move(response));
      return std::move(outcome.response);
    });
    outcome.response = std::move(response);
    request->parts.clear();  // removes files here, not on the I/O thread
    return outcome;
  };
  Outcome outcome = co_await on_pool(*state_, std::move(work));
  co_return outcome;
}

// A body may pause for the grace, and must reach the lowest rate on average.
Clock::time_point Connection::body_deadline(Clock::time_point start) const {
  const ServerOptions& options = state_->options;
  const std::chrono::milliseconds earned(1000 * exchange_.received_bytes /
                                         std::max<int64_t>(options.lowest_bytes_per_second, 1));
  return std::min(start + options.body_grace + earned, Clock::now() + options.body_grace);
}

// Asks the client for its body, if it waits for that.
awaitable<std::optional<Refusal>> Connection::meet_expectation() {
  const RequestHead& head = parser_->head();
  const auto expected = head.headers.find("expect");
  std::optional<Refusal> refusal;
  if (!expected || !head.http_11) co_return refusal;
  if (lower_case(*expected) != "100-continue") {
    refusal = {417, "the only expectation that this server knows is 100-continue"};
  } else if (wire_->unread().empty()) {
    const bool sent = co_await wire_->send("HTTP/1.1 100 Continue\r\n\r\n");
    if (!sent) refusal = {400, "the client is gone"};
  }
  co_return refusal;
}

awaitable<std::optional<Refusal>> Connection::read_body(BodyReader& reader, bool on_io_thread) {
  std::optional<Refusal> refusal = co_await meet_expectation();
  const auto start = Clock::now();
  auto take = [this, &reader, &refusal] {
    wire_->use(parser_->feed_body(wire_->unread(), [&](std::string_view piece) {
      exchange_.received_bytes += static_cast<int64_t>(piece.size());
      if (!refusal) refusal = reader.feed(piece);
    }));
    if (!refusal) refusal = parser_->refusal();
    return true;
  };
  while (!refusal) {
    if (on_io_thread) {
      take();
    } else {
      co_await on_pool(*state_, take);
    }
    if (refusal || parser_->complete()) break;
    if (wire_->is_full()) {
      refusal = {400, "the body's chunked encoding is malformed"};
      break;
    }
    const bool filled = co_await wire_->fill(body_deadline(start));
    if (filled) continue;
    refusal = wire_->timed_out() ? Refusal{408, "the body did not arrive in time"}
                                 : Refusal{400, "the connection ended before the body did"};
  }
  co_return refusal;
}

// ---- The end ----

void Connection::drain() {
  if (idle_) wire_->cancel();
  wake();
}

void Connection::cut() {
  gone_ = true;
  wire_->close();
  wake();
}

}  // namespace hum::serve
