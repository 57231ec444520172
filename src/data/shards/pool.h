// Lends objects to threads that are expensive to make, such as those with a loaded sound font.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace hum::data {

// There are never more objects than threads that hold one. Thread-safe.
template <typename T>
class Pool {
 public:
  explicit Pool(std::function<T()> make) : make_(std::move(make)) {}

  // An idle object, or a new one.
  T take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        T object = std::move(idle_.back());
        idle_.pop_back();
        return object;
      }
    }
    return make_();
  }
  void give_back(T object) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(object));
  }

 private:
  std::function<T()> make_;
  std::mutex mutex_;
  std::vector<T> idle_;
};

}  // namespace hum::data
