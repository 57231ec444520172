#include "base/memory.h"

#include <malloc.h>

#include <limits>

namespace hum {

void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);                                      // large blocks from the heap as well
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());  // the heap never shrinks
  mallopt(M_TOP_PAD, 64 << 20);
  mallopt(M_ARENA_MAX, 1);  // one heap, so that any thread can reuse any block
}

}  // namespace hum
