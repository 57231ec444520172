// For tests: records and a store in a new folder, and requests for jobs.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/scratch_folder.h"
#include "serve/storage/data_folder.h"

namespace hum::serve::testing {

inline const Json kFault = {{"title", "no"}, {"detail", "why"}, {"hint", "so"}};

inline bool nobody_is_dead(const std::string&) { return false; }

inline JobRequest some_job(const std::string& caller = "") {
  JobRequest job;
  job.id = new_id();
  job.caller = caller;
  job.options = {{"preset", "violin"}};
  job.notes = Json::array({{{"start", 0}, {"end", 1}, {"pitch", 60}}});
  return job;
}

inline Upload some_upload(const std::string& caller = "") {
  return {.id = new_id(),
          .caller = caller,
          .seconds = 2,
          .source = {{"rate_hz", 44100}},
          .created_ms = now_ms(),
          .expires_ms = now_ms() + 60'000};
}

class RecordsTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return scratch_ / "records.sqlite"; }
  // Accepts a job; returns its id.
  std::string accept(Records& records, const JobRequest& job = some_job()) const {
    EXPECT_EQ(records.accept(job, {}, std::nullopt).outcome, Acceptance::kAccepted);
    return job.id;
  }
  Lease claimed(Records& records, const std::string& owner = "w") const {
    auto found = records.claim(owner);
    EXPECT_TRUE(found.has_value());
    return found ? found->second : Lease{};
  }

  const ScratchFolder scratch_;
};

}  // namespace hum::serve::testing
