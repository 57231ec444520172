// Looks up table rows by id, with a one-pass gradient for bf16 tables: plain ops sum into an f32
// table and narrow it. The lookup itself is graph::take, as is the gradient of f32 tables.
//
// V entries, D width.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::kernels {

// graph::take(table, ids). Its gradient is summed in f32, in the order of the ids, and returned in
// the table's type; ids outside the table add nothing.
// Shapes: table[V, D], f32 or bf16; ids[...], i32 or u32 -> [..., D].
// Throws: other shapes or types.
graph::Value embedding(const graph::Value& table_VD, const graph::Value& ids,
                       std::source_location where = std::source_location::current());

// The gradient's custom call, for kernels/table.cpp. Setting: rows, of the table.
struct Kernel;
// (ids i32[...], dy bf16[..., D]) -> dtable bf16[rows, D]
extern const Kernel kEmbeddingGradKernel;

}  // namespace hum::kernels
