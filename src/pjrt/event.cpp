#include "pjrt/event.h"

#include "pjrt/call.h"

namespace hum::pjrt {

bool Event::is_ready() const {
  PJRT_Event_IsReady_Args args{};
  args.event = event_.get();
  HUM_PJRT_CALL(event_.get_deleter().plugin->api(), PJRT_Event_IsReady, args);
  return args.is_ready;
}

void Event::await() const {
  PJRT_Event_Await_Args args{};
  args.event = event_.get();
  HUM_PJRT_CALL(event_.get_deleter().plugin->api(), PJRT_Event_Await, args);
}

void Event::Deleter::operator()(PJRT_Event* event) const {
  PJRT_Event_Destroy_Args args{};
  args.event = event;
  (void)HUM_PJRT_TRY(plugin->api(), PJRT_Event_Destroy, args);
}

}  // namespace hum::pjrt
