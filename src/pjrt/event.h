// An asynchronous operation that completes or fails.
#pragma once

#include <pjrt_c_api.h>

#include <memory>

#include "pjrt/plugin.h"

namespace hum::pjrt {

class Event {
 public:
  // Takes ownership of `event`.
  Event(std::shared_ptr<const Plugin> plugin, PJRT_Event* event)
      : event_(event, Deleter{std::move(plugin)}) {}

  bool is_ready() const;
  // Blocks until it completes. Throws the plugin's error.
  void await() const;

 private:
  struct Deleter {
    std::shared_ptr<const Plugin> plugin;
    void operator()(PJRT_Event* event) const;
  };
  std::unique_ptr<PJRT_Event, Deleter> event_;
};

}  // namespace hum::pjrt
