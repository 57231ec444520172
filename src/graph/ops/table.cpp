#include "graph/ops/table.h"

namespace hum::graph {

std::span<const OpDef* const> op_table() {
#define HUM_ADDRESS(row) &row,
  static const OpDef* const kTable[] = {HUM_FOR_EACH_OP(HUM_ADDRESS)};
#undef HUM_ADDRESS
  return kTable;
}

}  // namespace hum::graph
