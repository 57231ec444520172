// A short sound of each preset, for the gallery. A worker plays it when somebody first asks for it;
// then it stays in the store.
#pragma once

#include <string>

#include "serve/http/http.h"
#include "serve/storage/records.h"
#include "serve/storage/store.h"

namespace hum::serve {

class PresetSounds {
 public:
  // Both must outlive this object.
  PresetSounds(Records& records, Store& store) : records_(records), store_(store) {}

  // The wav; 202 with Retry-After while a worker plays it; 404 for an unknown preset.
  Response get(const std::string& preset);

  static std::string path(std::string_view preset);

 private:
  // The job that plays it, which belongs to no caller of the API.
  Acceptance accept(const std::string& preset);

  Records& records_;
  Store& store_;
};

}  // namespace hum::serve
