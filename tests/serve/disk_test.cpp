// A disk that is full: a limit on the size of files stands for it.
#include <csignal>

#include "audio/io.h"
#include "audio/test_signal.h"
#include "base/files.h"
#include "serve/client/client.h"
#include "tests/serve/service.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kRoom_bytes = 2'000'000;
constexpr int kRate_hz = 22050;

class FullDisk : public ServiceTest {
 protected:
  void start_with_little_room(int workers) {
    server_ = std::make_unique<Process>(
        std::vector<std::string>{hum_program().string(), "serve", "--listen", "127.0.0.1:0",
                                 "--data", data_.string(), "--workers", std::to_string(workers),
                                 "--json"},
        ProcessOptions{
            .environment = hum_environment(), .err = log(), .max_file_bytes = kRoom_bytes});
    port_ = parse_json(server_->first_line())["port"];
  }
  // The answer to an upload of a tone.
  testing::Answer send_tone(double seconds) const {
    const fs::path path = scratch_.path() / "tone.wav";
    audio::write_audio(path, audio::from_mono(audio::tone(220, seconds, kRate_hz), kRate_hz));
    FormWriter form;
    form.file("audio", read_file(path));
    return ask("POST", "/v1/uploads", form.content_type() + "\r\n", form.body());
  }
};

TEST_F(FullDisk, AnUploadIsRefusedAndLeavesNothing) {
  start_with_little_room(0);
  const auto refused = send_tone(60);
  EXPECT_EQ(refused.status, 507);
  EXPECT_EQ(refused.headers.at("content-type"), "application/problem+json");
  EXPECT_THAT(refused.body, HasSubstr("no room"));
  EXPECT_THAT(refused.body, Not(HasSubstr(scratch_.path().string()))) << "a path of the server";
  for (const auto& entry : fs::recursive_directory_iterator(data_ / "sounds")) {
    EXPECT_TRUE(entry.is_directory()) << entry.path();
  }
  const Json notes = Json::array({{{"start", 0}, {"end", 1}, {"pitch", 69}}});
  EXPECT_EQ(job(begin({{"notes", notes}, {"task", "notes"}}))["status"], "queued")
      << "there is room for this one";
}

TEST_F(FullDisk, AnAcceptedJobWaitsForRoomAndIsNotLost) {
  constexpr int kSeconds = 30;
  start_with_little_room(1);
  wait_until_ready();
  const Json notes = Json::array({{{"start", 0}, {"end", kSeconds}, {"pitch", 69}}});
  const std::string id = begin({{"notes", notes}, {"options", {{"preset", "violin"}}}});
  const auto waits = [&] { return read_file(log()).find(id + ": waits") != std::string::npos; };
  ASSERT_TRUE(eventually(waits)) << read_file(log());
  EXPECT_EQ(job(id)["status"], "queued");
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait(), 0) << read_file(log());
  start();
  const Json done = finish(id);
  EXPECT_EQ(done["status"], "done") << to_text(done);
  EXPECT_GT(result(id, "take-1.wav").size(), static_cast<size_t>(kRoom_bytes));
}

}  // namespace
}  // namespace hum::serve
