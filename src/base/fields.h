// Configuration structs are declared once: visit_fields provides their JSON and YAML
// (fields_json.h), their flags and their help (cli/command.h).
//
//   struct TrainConfig {
//     int64_t steps = 1000;
//     template <class V> void visit_fields(V& v) { v("steps", steps, "optimizer steps"); }
//   };
//
// Field types: bool, int64_t, double, std::string, vectors of these, structs with visit_fields, and
// enums with an overload `EnumNames<E> enum_names(E)`. Field names are snake_case; flags use dashes
// instead.
#pragma once

#include <string_view>

#include "base/enum_names.h"

namespace hum {

struct AnyField {
  template <typename T>
  void operator()(std::string_view, T&, std::string_view) {}
};
template <typename T>
concept Fields = requires(T t, AnyField any) {
  t.visit_fields(any);
};

}  // namespace hum
