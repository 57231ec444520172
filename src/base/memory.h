// How the process keeps its memory.
#pragma once

namespace hum {

// Keeps freed memory instead of handing it back to the system. A training step frees and asks for
// the same hundreds of megabytes every time; without this a fifth of its time goes into page
// faults. Call once, before threads start.
void keep_freed_memory();

}  // namespace hum
