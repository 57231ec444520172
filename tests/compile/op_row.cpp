// A row of the op table that states all that it must. Under each of the macros it leaves something
// out, and must not compile (CMakeLists.txt beside it).
#include "graph/op.h"

namespace hum::graph {

Shapes infer(const Node& node);
void print(Printer& out, const Node& node);

extern const OpDef kRow;
const OpDef kRow = {
    "row", infer, place_elementwise, kNoGradient, print, elementwise_cost,
#if defined(HUM_WITHOUT_KIND)
#elif defined(HUM_WITHOUT_MEMORY_CLASS)
                    {.elementwise = true}
#elif defined(HUM_WITHOUT_ELEMENTWISE)
                    {.memory = MemoryClass::kCheap}
#elif defined(HUM_WITH_ANOTHER_TYPE)
                    {.memory = MemoryClass::kCheap, .elementwise = 1}
#else
                    {.memory = MemoryClass::kCheap, .elementwise = true}
#endif
};

}  // namespace hum::graph
