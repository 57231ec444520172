// Shares the models of a worker among the jobs that it works on: one or two jobs run them at a
// time, and offer their turns to the others after each window. So a job of ten minutes delays a
// short one by a window at a time, and gets its own turns.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace hum::serve {

class Turns {
 public:
  // at_once: how many have a turn at the same time.
  explicit Turns(int at_once) : free_(at_once) {}

  // A job's place among the others, for the thread that works on it.
  class Place {
   public:
    // `turns` must outlive this object.
    Place(Turns& turns, std::string caller);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Gives up the turn if it has it, and waits for the next one. Jobs with somebody waiting for
    // their first sound (`is_awaited`) go first; then the caller who had a turn longest ago; then,
    // of awaited jobs, the one that came first, else the one that had a turn longest ago.
    void take(bool is_awaited);
    // Gives up the turn.
    void leave();

   private:
    friend class Turns;
    enum class State { kAway, kWaits, kHasTurn };

    Turns& turns_;
    std::string caller_;
    State state_ = State::kAway;
    bool is_awaited_ = false;
    int64_t came_ = 0, served_ = 0;  // when it was made, and had its last turn
  };

 private:
  // These need the mutex.
  void leave(Place& place);
  int64_t served(const std::string& caller) const;
  const Place* next() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place*> places_;
  int64_t clock_ = 0;
  int free_;  // turns that nobody has
};

}  // namespace hum::serve
