// jemalloc's options, read at start: it keeps freed pages and puts large blocks in huge pages,
// because every training step frees and allocates the same hundreds of megabytes. The variable
// MALLOC_CONF overrides them.
extern "C" const char* malloc_conf;
const char* malloc_conf = "thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1";
