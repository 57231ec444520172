// For tests: a server on a free port, and a client that sends bytes as it pleases.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/scratch_folder.h"
#include "base/text.h"
#include "serve/http/server.h"
#include "serve/http/url.h"

namespace hum::serve::testing {

inline constexpr std::chrono::milliseconds kPatience{10'000};

// What the client got: status 0 if the connection ended before a whole head.
struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;
  bool whole = false;  // the body as long as announced
};

// Sends and reads bytes. Destroying it closes the connection.
class TestClient {
 public:
  explicit TestClient(int port) : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    const int yes = 1;
    setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  }
  ~TestClient() { close(descriptor_); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  bool connected() const { return connected_; }
  int descriptor() const { return descriptor_; }

  // False if the server does not take everything.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Reads what comes next, appended to unread(). False at the end or when patience is over.
  bool receive(std::chrono::milliseconds patience = kPatience) {
    pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return false;
    char bytes[65536];
    const ssize_t count = recv(descriptor_, bytes, sizeof(bytes), 0);
    if (count <= 0) {
      ended_ = true;
      return false;
    }
    unread_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  // Reads on until the text arrives, and returns everything before its end.
  std::string read_until(std::string_view text) {
    while (unread_.find(text) == unread_.npos) {
      if (!receive()) return "";
    }
    return take(unread_.find(text) + text.size());
  }

  // Reads one response.
  Answer read_answer(bool head_only = false) {
    Answer answer;
    std::string head;
    do {
      head = read_until("\r\n\r\n");
      if (head.size() < 12) return answer;
      std::from_chars(head.data() + 9, head.data() + 12, answer.status);
    } while (answer.status == 100);
    read_fields(head, answer);
    if (head_only || answer.status == 204 || answer.status == 304) {
      answer.whole = true;
    } else if (answer.headers.contains("transfer-encoding")) {
      read_chunks(answer);
    } else if (answer.headers.contains("content-length")) {
      read_bytes(std::stoul(answer.headers["content-length"]), answer);
    } else {
      while (receive()) {
      }
      answer.body = take(unread_.size());
      answer.whole = ended_;
    }
    return answer;
  }

  // Sends a request with the usual Host, and reads the answer.
  Answer ask(const std::string& method, const std::string& target,
             const std::string& more_headers = "", const std::string& body = "") {
    std::string request = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more_headers;
    if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    send(request + "\r\n" + body);
    return read_answer(method == "HEAD");
  }

  // If the server ends the connection in time.
  bool wait_for_end(std::chrono::milliseconds patience = kPatience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!ended_ && std::chrono::steady_clock::now() < deadline) {
      receive(std::chrono::milliseconds(100));
    }
    return ended_;
  }

  const std::string& unread() const { return unread_; }

 private:
  std::string take(size_t count) {
    std::string taken = unread_.substr(0, count);
    unread_.erase(0, count);
    return taken;
  }

  static void read_fields(std::string_view head, Answer& answer) {
    while (!head.empty()) {
      const size_t end = head.find("\r\n");
      const std::string_view line = head.substr(0, end);
      const size_t colon = line.find(':');
      if (colon != line.npos) {
        answer.headers[lower_case(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
      }
      head.remove_prefix(end + 2);
    }
  }

  void read_bytes(size_t count, Answer& answer) {
    while (unread_.size() < count && receive()) {
    }
    answer.whole = unread_.size() >= count;
    answer.body = take(count);
  }

  void read_chunks(Answer& answer) {
    for (;;) {
      const std::string line = read_until("\r\n");
      size_t size = 0;
      if (line.empty() ||
          std::from_chars(line.data(), line.data() + line.size(), size, 16).ec != std::errc()) {
        return;
      }
      Answer chunk;
      read_bytes(size, chunk);
      answer.body += chunk.body;
      if (!chunk.whole || read_until("\r\n") != "\r\n") return;
      if (size == 0) break;
    }
    answer.whole = true;
  }

  int descriptor_;
  bool connected_ = false, ended_ = false;
  std::string unread_;
};

// A server on a free port of 127.0.0.1, with a folder for uploads and files.
class ServerTest : public ::testing::Test {
 protected:
  void start() {
    options.spool_folder = spool.path();
    server = std::make_unique<HttpServer>(options, std::move(router));
  }
  // The answer to one request on a new connection.
  Answer ask(const std::string& method, const std::string& target,
             const std::string& more_headers = "", const std::string& body = "") const {
    return TestClient(server->port()).ask(method, target, more_headers, body);
  }
  // Waits until the condition holds.
  template <class Condition>
  static bool eventually(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  ScratchFolder spool, files;
  ServerOptions options;
  Router router;
  std::unique_ptr<HttpServer> server;
};

}  // namespace hum::serve::testing
