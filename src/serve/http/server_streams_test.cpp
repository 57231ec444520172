// Event streams, files that grow, and the end of the server.
#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <future>

#include "serve/http/test_client.h"

namespace hum::serve {
namespace {

using std::chrono::milliseconds;
using testing::Answer;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TestClient;

const std::string kGetEvents = "GET /events HTTP/1.1\r\nHost: localhost\r\n";

class HttpStreams : public testing::ServerTest {
 protected:
  HttpStreams() {
    router.add("GET", "/events", [this](Request& request) {
      return Response{
          .body = EventBody{.events = events,
                            .last_event_id = std::string(request.headers.get("last-event-id"))}};
    });
    router.add("GET", "/growing.wav", [this](Request&) {
      return Response{.content_type = "audio/wav",
                      .body = GrowingFileBody{.path = files / "growing.wav",
                                              .growth = [this] { return growth(); },
                                              .signal = signal,
                                              .poll = poll}};
    });
    router.add("GET", "/slow", [this](Request&) {
      started = true;
      while (!may_end) std::this_thread::sleep_for(milliseconds(1));
      return Response{.body = "done"};
    });
    router.add("GET", "/", [](Request&) { return Response{.body = "here"}; });
  }
  ~HttpStreams() override {
    may_end = true;
    server.reset();
  }

  Growth growth() {
    const std::lock_guard lock(mutex);
    return grown;
  }
  void grow(const std::string& bytes, Growth::State state = Growth::kGrows) {
    std::ofstream(files / "growing.wav", std::ios::app | std::ios::binary) << bytes << std::flush;
    const std::lock_guard lock(mutex);
    grown.bytes += std::ssize(bytes);
    grown.state = state;
    if (signal) signal->notify();
  }

  std::shared_ptr<EventStream> events = std::make_shared<EventStream>();
  std::shared_ptr<Signal> signal = std::make_shared<Signal>();
  milliseconds poll{60'000};  // only the signal wakes
  std::mutex mutex;
  Growth grown;
  std::atomic<bool> started = false, may_end = false;
};

TEST_F(HttpStreams, SendEventsToManyClientsAsTheyHappen) {
  start();
  constexpr int kClients = 200;
  std::vector<std::unique_ptr<TestClient>> clients;
  events->push({.id = "1", .event = "job", .data = "first"});
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<TestClient>(server->port()));
    clients.back()->send(kGetEvents + "\r\n");
  }
  for (const auto& client : clients) {
    const std::string head = client->read_until("\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream"));
    EXPECT_THAT(head, HasSubstr("Cache-Control: no-store"));
    EXPECT_THAT(client->read_until("\n\n"), HasSubstr("retry: 2000\n"));
    EXPECT_THAT(client->read_until("first\n\n"), HasSubstr("id: 1\nevent: job\ndata: first\n\n"));
  }
  EXPECT_EQ(events->listeners(), kClients);
  events->push({.id = "2", .event = "", .data = "second"});
  for (const auto& client : clients) EXPECT_NE(client->read_until("data: second\n\n"), "");
  EXPECT_EQ(ask("GET", "/").body, "here") << "other requests are answered";
  events->close();
  for (const auto& client : clients) {
    EXPECT_NE(client->read_until("0\r\n\r\n"), "");
    EXPECT_TRUE(client->wait_for_end());
  }
  EXPECT_TRUE(eventually([&] { return events->listeners() == 0; }));
}

TEST_F(HttpStreams, ResumeAfterTheLastEvent) {
  start();
  for (int i = 1; i <= 3; ++i) {
    events->push({.id = std::to_string(i), .event = "", .data = "event " + std::to_string(i)});
  }
  events->close();
  const std::string all = ask("GET", "/events").body;
  EXPECT_THAT(all, HasSubstr("event 1"));
  const std::string rest = ask("GET", "/events", "Last-Event-ID: 2\r\n").body;
  EXPECT_EQ(rest, "retry: 2000\n\nid: 3\ndata: event 3\n\n");
  const Answer old = [&] {
    TestClient client(server->port());
    client.send("GET /events HTTP/1.0\r\nLast-Event-ID: 2\r\n\r\n");
    return client.read_answer();
  }();
  EXPECT_EQ(old.body, rest) << "without chunks";
  EXPECT_EQ(ask("HEAD", "/events").headers.at("content-type"), "text/event-stream");
}

TEST_F(HttpStreams, PingWhenNothingHappens) {
  options.ping_interval = milliseconds(20);
  start();
  TestClient client(server->port());
  client.send(kGetEvents + "\r\n");
  EXPECT_NE(client.read_until(": ping\n\n"), "");
  EXPECT_NE(client.read_until(": ping\n\n"), "");
}

TEST_F(HttpStreams, EndWhenTheirCallerIsNoLongerAdmitted) {
  options.ping_interval = milliseconds(20);
  std::atomic<bool> admits = true;
  options.admit = [&](Request& request) -> std::optional<Response> {
    const bool is_other = request.headers.contains("x-other");
    return admits || is_other ? std::nullopt : std::optional(problem(401, "no key"));
  };
  poll = milliseconds(5);
  start();
  TestClient busy(server->port()), other(server->port()), file(server->port());
  busy.send(kGetEvents + "\r\n");
  other.send(kGetEvents + "X-Other: 1\r\n\r\n");
  file.send("GET /growing.wav HTTP/1.1\r\nHost: localhost\r\n\r\n");
  grow("RIFF");
  ASSERT_NE(file.read_until("RIFF"), "");
  // Events that come all the time leave no room for pings.
  std::atomic<bool> stop = false;
  std::thread pusher([&] {
    while (!stop) {
      events->push({.id = "", .event = "", .data = "x"});
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  EXPECT_NE(busy.read_until("data: x"), "");
  admits = false;
  EXPECT_NE(busy.read_until("0\r\n\r\n"), "");
  EXPECT_TRUE(busy.wait_for_end());
  EXPECT_TRUE(file.wait_for_end());
  EXPECT_THAT(file.unread(), Not(HasSubstr("0\r\n\r\n"))) << "the part looks whole";
  stop = true;
  pusher.join();
  EXPECT_NE(other.read_until(": ping\n\n"), "");
  EXPECT_NE(other.read_until(": ping\n\n"), "");
  EXPECT_EQ(events->listeners(), 1);
  server.reset();
}

TEST_F(HttpStreams, NoticeClientsThatDisappear) {
  start();
  for (int i = 0; i < 20; ++i) {
    TestClient events_client(server->port()), file_client(server->port());
    events_client.send(kGetEvents + "\r\n");
    file_client.send("GET /growing.wav HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_NE(events_client.read_until("retry"), "");
    ASSERT_NE(file_client.read_until("\r\n\r\n"), "");
  }
  EXPECT_TRUE(eventually([&] { return server->connections() == 0; }));
  EXPECT_EQ(events->listeners(), 0);
  EXPECT_EQ(signal->subscribers(), 0);
}

TEST_F(HttpStreams, AreLimited) {
  options.max_streams = 2;
  start();
  TestClient first(server->port()), second(server->port());
  first.send(kGetEvents + "\r\n");
  second.send(kGetEvents + "\r\n");
  ASSERT_NE(first.read_until("retry"), "");
  ASSERT_NE(second.read_until("retry"), "");
  const Answer third = ask("GET", "/events");
  EXPECT_EQ(third.status, 503);
  EXPECT_TRUE(third.headers.contains("retry-after"));
  EXPECT_EQ(ask("GET", "/").status, 200);
  events->close();
  EXPECT_TRUE(eventually([&] { return ask("GET", "/events").status == 200; }));
}

TEST_F(HttpStreams, SendAFileWhileItGrows) {
  start();
  TestClient client(server->port());
  client.send("GET /growing.wav HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-\r\n\r\n");
  EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 OK"));
  grow("RIFF");
  EXPECT_EQ(client.read_until("RIFF"), "4\r\nRIFF") << "before the file is complete";
  const std::string rest(500'000, 'x');
  grow(rest);
  grow("end", Growth::kComplete);
  EXPECT_NE(client.read_until("end\r\n0\r\n\r\n"), "");
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(ask("GET", "/growing.wav").body, "RIFF" + rest + "end");
  const Answer old = [&] {
    TestClient other(server->port());
    other.send("GET /growing.wav HTTP/1.0\r\n\r\n");
    return other.read_answer();
  }();
  EXPECT_EQ(old.body, "RIFF" + rest + "end");
}

TEST_F(HttpStreams, AskForGrowthWithoutASignal) {
  signal = nullptr;
  poll = milliseconds(5);
  start();
  TestClient client(server->port());
  client.send("GET /growing.wav HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.read_until("\r\n\r\n");
  grow("RIFF", Growth::kComplete);
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "4\r\nRIFF\r\n0\r\n\r\n");
}

TEST_F(HttpStreams, CutAFileThatWillNotBeComplete) {
  start();
  for (const bool is_short : {false, true}) {
    {
      const std::lock_guard lock(mutex);
      grown = {};
    }
    std::filesystem::remove(files / "growing.wav");
    grow("RIFF");
    TestClient client(server->port());
    client.send("GET /growing.wav HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_NE(client.read_until("RIFF"), "");
    if (is_short) {  // shorter than its writer says
      const std::lock_guard lock(mutex);
      grown = {.bytes = 100, .state = Growth::kComplete};
      signal->notify();
    } else {
      grow("", Growth::kBroken);
    }
    EXPECT_TRUE(client.wait_for_end());
    EXPECT_THAT(client.unread(), Not(HasSubstr("0\r\n\r\n"))) << "the part looks whole";
  }
}

TEST_F(HttpStreams, DoNotWaitForASlowReader) {
  options.write_timeout = milliseconds(100);
  start();
  TestClient slow(server->port());
  slow.send(kGetEvents + "\r\n");
  ASSERT_NE(slow.read_until("retry"), "");
  const std::string large(100'000, 'x');
  for (int i = 0; i < 200; ++i) {
    events->push({.id = std::to_string(i), .event = "", .data = large});
  }
  EXPECT_TRUE(eventually([&] { return server->connections() == 0; })) << "20 MB are never read";
}

// ---- Draining ----

TEST_F(HttpStreams, EndWhenTheServerDrains) {
  start();
  TestClient stream(server->port()), idle(server->port()), busy(server->port());
  stream.send(kGetEvents + "\r\n");
  ASSERT_NE(stream.read_until("retry"), "");
  ASSERT_EQ(idle.ask("GET", "/").status, 200);
  busy.send(
      "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  auto drained = std::async(std::launch::async, [&] { return server->drain(testing::kPatience); });
  EXPECT_NE(stream.read_until("0\r\n\r\n"), "");
  EXPECT_TRUE(stream.wait_for_end());
  EXPECT_TRUE(idle.wait_for_end());
  EXPECT_FALSE(TestClient(server->port()).connected());
  EXPECT_EQ(drained.wait_for(milliseconds(50)), std::future_status::timeout) << "one still runs";
  may_end = true;
  const Answer answer = busy.read_answer();
  EXPECT_EQ(answer.body, "done") << "a running request finishes";
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(busy.wait_for_end());
  EXPECT_TRUE(drained.get());
}

TEST_F(HttpStreams, AreCutIfDrainingTakesTooLong) {
  start();
  TestClient busy(server->port()), file(server->port());
  busy.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  file.send("GET /growing.wav HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_NE(file.read_until("\r\n\r\n"), "");
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  EXPECT_FALSE(server->drain(milliseconds(50)));
  EXPECT_TRUE(busy.wait_for_end());
  EXPECT_TRUE(file.wait_for_end());
}

// Events come from other threads while clients come and go and the server ends.
TEST_F(HttpStreams, SurviveThreadsAtAnyMoment) {
  for (int round = 0; round < 5; ++round) {
    Router routes;
    routes.add("GET", "/events", [this](Request&) {
      return Response{.body = EventBody{.events = events, .last_event_id = ""}};
    });
    server = std::make_unique<HttpServer>(options, std::move(routes));
    std::atomic<bool> stop = false;
    std::thread pusher([&] {
      for (int i = 0; !stop; ++i) events->push({.id = std::to_string(i), .event = "", .data = "x"});
    });
    for (int i = 0; i < 20; ++i) {
      TestClient client(server->port());
      client.send(kGetEvents + "\r\n");
      EXPECT_NE(client.read_until("data: x"), "");
    }
    server.reset();
    stop = true;
    pusher.join();
  }
}

}  // namespace
}  // namespace hum::serve
