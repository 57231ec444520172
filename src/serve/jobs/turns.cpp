#include "serve/jobs/turns.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hum::serve {

Turns::Place::Place(Turns& turns, std::string caller) : turns_(turns), caller_(std::move(caller)) {
  const std::scoped_lock lock(turns_.mutex_);
  came_ = ++turns_.clock_;
  turns_.places_.push_back(this);
}

Turns::Place::~Place() {
  const std::scoped_lock lock(turns_.mutex_);
  turns_.leave(*this);
  std::erase(turns_.places_, this);
}

void Turns::Place::take(bool is_awaited) {
  std::unique_lock lock(turns_.mutex_);
  turns_.leave(*this);
  is_awaited_ = is_awaited;
  state_ = State::kWaits;
  turns_.changed_.wait(lock, [&] { return turns_.free_ > 0 && turns_.next() == this; });
  state_ = State::kHasTurn;
  served_ = ++turns_.clock_;
  if (--turns_.free_ > 0) turns_.changed_.notify_all();
}

void Turns::Place::leave() {
  const std::scoped_lock lock(turns_.mutex_);
  turns_.leave(*this);
}

void Turns::leave(Place& place) {
  if (place.state_ != Place::State::kHasTurn) return;
  place.state_ = Place::State::kAway;
  ++free_;
  changed_.notify_all();
}

int64_t Turns::served(const std::string& caller) const {
  int64_t last = 0;
  for (const Place* place : places_) {
    if (place->caller_ == caller) last = std::max(last, place->served_);
  }
  return last;
}

const Turns::Place* Turns::next() const {
  const auto rank = [&](const Place* place) {
    return std::tuple(!place->is_awaited_, served(place->caller_),
                      place->is_awaited_ ? place->came_ : place->served_);
  };
  const Place* first = nullptr;
  for (const Place* place : places_) {
    if (place->state_ != Place::State::kWaits) continue;
    if (first == nullptr || rank(place) < rank(first)) first = place;
  }
  return first;
}

}  // namespace hum::serve
