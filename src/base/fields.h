// A configuration is declared once: a struct's visit_fields gives its JSON and YAML
// (fields_json.h), its flags and its help (cli/command.h).
//
//   struct TrainConfig {
//     int64_t steps = 1000;
//     template <class V> void visit_fields(V& v) { v("steps", steps, "optimizer steps"); }
//   };
//
// Field types: bool, int64_t, double, std::string, vectors of these, structs with visit_fields, and
// enums for which an overload `EnumNames<E> enum_names(E)` is found. Field names are snake_case;
// flags print them with dashes.
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
