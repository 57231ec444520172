// What a job hands out: results, the stream while it is made, events.
#include <gmock/gmock.h>

#include <cstdio>

#include "serve/api/test_api.h"

namespace hum::serve {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using testing::ApiTest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kNotes;
using testing::TestClient;
using testing::tone;

TEST_F(ApiTest, ResultsHaveRangesTagsAndOtherFormats) {
  const std::string id = start(), results = job_path(id) + "/results/";
  EXPECT_EQ(ask("GET", results + "take-1.wav").status, 409);
  finish_next();
  const Json job = get(job_path(id));
  EXPECT_EQ(job["status"], "done");
  EXPECT_EQ(job["results"][0]["url"], results + "take-1.wav");
  const Answer whole = ask("GET", results + "take-1.wav");
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.headers.at("content-type"), "audio/wav");
  EXPECT_EQ(whole.body, tone(1));
  const Answer part = ask("GET", results + "take-1.wav", "Range: bytes=0-3\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "RIFF");
  const std::string tag = whole.headers.at("etag");
  EXPECT_EQ(ask("GET", results + "take-1.wav", "If-None-Match: " + tag + "\r\n").status, 304);
  const Answer flac = ask("GET", results + "take-1.flac");
  EXPECT_EQ(flac.status, 200);
  EXPECT_EQ(flac.body.substr(0, 4), "fLaC");
  EXPECT_EQ(ask("GET", results + "take-1.flac").body, flac.body);
  EXPECT_THAT(ask("GET", results + "melody.csv").body, HasSubstr("start_time_s"));
  EXPECT_EQ(ask("GET", results + "all.zip").body.substr(0, 2), "PK");
  for (const char* other : {"take-2.wav", "take-1.WAV", "take-1.exe", "melody.mid",
                            "records.sqlite", "..%2f..%2frecords.sqlite", "stream.wav"}) {
    EXPECT_THAT(ask("GET", results + other).status, AnyOf(404, 400)) << other;
  }
  EXPECT_EQ(ask("DELETE", job_path(id)).status, 204);
  EXPECT_THAT(store_.list("jobs"), IsEmpty());
  EXPECT_EQ(ask("GET", results + "take-1.wav").status, 404);
}

TEST_F(ApiTest, AStreamPlaysWhileItIsMade) {
  const std::string id = start(), stream = job_path(id) + "/results/stream.wav";
  TestClient client(server_->port());
  client.send("GET " + stream + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Lease lease = claimed(records_);
  const auto path = store_.growing(result_key(id, kStreamName));
  write_file(path, "RIFF");
  records_.progress(lease, {"play", 0.1, std::nullopt});
  EXPECT_THAT(client.read_until("RIFF"), HasSubstr("200"));
  std::FILE* file = std::fopen(path.c_str(), "ab");
  std::fputs("first part", file);
  std::fflush(file);
  EXPECT_THAT(client.read_until("first part"), HasSubstr("first part"));
  std::fputs("last part", file);
  std::fclose(file);
  records_.progress(lease, {"write", 0, std::nullopt});
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("last part"));
  put(result_key(id, "take-1.wav"), tone(1));
  records_.finish(lease, Json::array());
  EXPECT_EQ(ask("GET", stream).body, "RIFFfirst partlast part");
}

TEST_F(ApiTest, AStreamOfAJobThatIsRemovedIsCut) {
  const std::string id = start(), stream = job_path(id) + "/results/stream.wav";
  claimed(records_);
  write_file(store_.growing(result_key(id, kStreamName)), "RIFF");
  TestClient client(server_->port());
  client.send("GET " + stream + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.read_until("RIFF");
  EXPECT_EQ(ask("DELETE", job_path(id)).status, 204);
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_THAT(client.unread(), ::testing::Not(HasSubstr("0\r\n\r\n"))) << "not the end of a whole";
}

TEST_F(ApiTest, EventsTellEveryStateOnceAndEnd) {
  const std::string id = start();
  TestClient client(server_->port());
  client.send("GET " + job_path(id) + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.read_until("\"queued\""), HasSubstr("event: job"));
  const Lease lease = claimed(records_);
  client.read_until("\"running\"");
  records_.set_heard(lease, {{"notes", parse_json(kNotes)}});
  client.read_until("\"pitch\":60");
  records_.finish(lease, Json::array());
  client.read_until("\"done\"");
  EXPECT_NE(client.read_until("0\r\n\r\n"), "") << "the stream ends";
  const int64_t version = records_.any_job(id)->version;
  EXPECT_EQ(
      ask("GET", job_path(id) + "/events", fmt::format("Last-Event-ID: {}\r\n", version)).status,
      204);
  const Answer late = ask("GET", job_path(id) + "/events");
  EXPECT_THAT(late.body, HasSubstr(fmt::format("id: {}\n", version)));
}

TEST_F(ApiTest, EventsOfARemovedJobEndWithCancelled) {
  const std::string id = start();
  TestClient client(server_->port());
  client.send("GET " + job_path(id) + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.read_until("\"queued\"");
  EXPECT_EQ(ask("DELETE", job_path(id)).status, 204);
  EXPECT_NE(client.read_until("\"cancelled\""), "");
  EXPECT_NE(client.read_until("0\r\n\r\n"), "");
}

TEST_F(ApiTest, EventsTellWhenTheQueueMoves) {
  start();
  const std::string id = start();
  TestClient client(server_->port());
  client.send("GET " + job_path(id) + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(client.read_until("\"position\":2"), "");
  claimed(records_);
  EXPECT_NE(client.read_until("\"position\":1"), "");
}

}  // namespace
}  // namespace hum::serve
