// How jemalloc keeps the program's memory, read when it starts: freed pages are not handed back,
// large blocks lie in huge pages. A training step frees and asks for the same hundreds of megabytes
// every time. The variable MALLOC_CONF can say otherwise.
extern "C" const char* malloc_conf;
const char* malloc_conf = "thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1";
