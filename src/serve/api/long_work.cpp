#include "serve/api/long_work.h"

#include <utility>

#include "base/error.h"

namespace hum::serve {
namespace {

[[noreturn]] void fail_busy() {
  fail(ExitCode::kTemporary, "the server is busy with other sounds", "ask again in a few seconds");
}

}  // namespace

LongWork::LongWork(int at_once, int waiting, std::chrono::milliseconds longest_wait)
    : threads_(at_once + waiting), turns_(at_once), longest_wait_(longest_wait) {}

LongWork::Permit LongWork::begin() {
  if (!threads_.try_acquire()) fail_busy();
  Place thread(threads_);
  if (!turns_.try_acquire_for(longest_wait_)) fail_busy();
  return {std::move(thread), Place(turns_)};
}

}  // namespace hum::serve
