// Keeps long work in request handlers, such as decoding, from taking all of the server's threads.
#pragma once

#include <chrono>
#include <memory>
#include <semaphore>

namespace hum::serve {

class LongWork {
 public:
  // at_once: how much runs. waiting: how much may wait besides, each for at most `longest_wait`.
  // Together they must be fewer than the threads.
  LongWork(int at_once, int waiting, std::chrono::milliseconds longest_wait);

  // Gives one place back when it ends.
  class Place {
   public:
    explicit Place(std::counting_semaphore<>& places) : places_(&places) {}

   private:
    struct GiveBack {
      void operator()(std::counting_semaphore<>* places) const { places->release(); }
    };
    std::unique_ptr<std::counting_semaphore<>, GiveBack> places_;
  };
  struct Permit {
    Place thread, turn;
  };

  // Waits for its turn; the work lasts as long as the result lives. Any thread may call it. Throws:
  // kTemporary if too many wait, or after the longest wait.
  [[nodiscard]] Permit begin();

 private:
  std::counting_semaphore<> threads_, turns_;
  std::chrono::milliseconds longest_wait_;
};

}  // namespace hum::serve
