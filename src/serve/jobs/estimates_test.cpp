#include "serve/jobs/estimates.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace hum::serve {
namespace {

TEST(Estimates, TheProgressOfAJobNeverFalls) {
  StageRates rates;
  const std::pair<Estimates::Sound, std::vector<const char*>> kJobs[] = {
      {{9, 9}, {"hear", "play", "write"}},
      {{.heard_s = 9, .played_s = 9, .separated_s = 9}, {"separate", "hear", "play", "write"}},
      {{.separated_s = 9}, {"separate", "write"}}};
  for (const auto& [sound, stages] : kJobs) {
    Estimates estimates(rates);
    estimates.begin(sound);
    double last = 0;
    for (const char* stage : stages) {
      for (const double done : {0.0, 0.3, 0.9, 1.0}) {
        const double progress = estimates.at(stage, done, 1).progress;
        EXPECT_GE(progress, last) << stage << ' ' << done;
        last = progress;
      }
    }
    EXPECT_EQ(last, 1) << stages.size();
  }
}

TEST(Estimates, ASongIsSeparatedBeforeTheRest) {
  StageRates rates;
  for (int i = 0; i < 20; ++i) {
    Estimates estimates(rates);
    estimates.begin({.heard_s = 10, .played_s = 10, .separated_s = 10});
    for (const auto& [stage, seconds] :
         {std::pair{"separate", 30}, {"hear", 1}, {"play", 20}, {"write", 2}}) {
      estimates.learn(stage, seconds);
    }
  }
  Estimates remix(rates), stems(rates);
  remix.begin({.heard_s = 10, .played_s = 10, .separated_s = 10});
  EXPECT_NEAR(remix.at("separate", 0, 0).seconds_left, 30 + 1 + 20 + 2, 0.5);
  EXPECT_NEAR(remix.at("hear", 0, 0).seconds_left, 1 + 20 + 2, 0.5);
  stems.begin({.separated_s = 10});
  EXPECT_NEAR(stems.at("separate", 0, 0).seconds_left, 30 + 2, 0.5);
}

TEST(Estimates, TheTimeLeftFollowsTheSpeedOfTheStage) {
  StageRates rates;
  Estimates estimates(rates);
  estimates.begin({9, 9});
  const double at_start = estimates.at("play", 0, 0).seconds_left;
  EXPECT_GT(at_start, 0);
  const double slow = estimates.at("play", 0.5, 100).seconds_left;
  EXPECT_NEAR(slow, 100, 2);
  EXPECT_LT(estimates.at("write", 1, 0.1).seconds_left, 0.1);
}

TEST(Estimates, TheyLearnFromEarlierJobs) {
  StageRates rates;
  Estimates estimates(rates);
  for (int i = 0; i < 20; ++i) {
    estimates.begin({10, 10});
    estimates.learn("hear", 1);
    estimates.learn("play", 20);
    estimates.learn("write", 2);
  }
  Estimates next(rates);
  next.begin({5, 5});
  EXPECT_NEAR(next.at("hear", 0, 0).seconds_left, 0.5 + 10 + 1, 0.2);
  next.begin({});  // notes that were given
  EXPECT_EQ(next.at("hear", 0, 0).seconds_left, 0);
}

TEST(Estimates, JobsWithTheLanguageModelAreExpectedToBeSlower) {
  StageRates rates;
  Estimates usual(rates), sampled(rates);
  usual.begin({10, 10});
  sampled.begin({10, 10, /*has_lm=*/true});
  for (int i = 0; i < 20; ++i) {
    usual.learn("play", 1);
    sampled.learn("play", 20);
  }
  EXPECT_NEAR(sampled.at("play", 0, 0).seconds_left, 20, 1);
  EXPECT_LT(usual.at("play", 0, 0).seconds_left, 2);
}

}  // namespace
}  // namespace hum::serve
