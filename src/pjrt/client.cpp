#include "pjrt/client.h"

#include <algorithm>

#include "base/error.h"
#include "pjrt/call.h"

namespace hum::pjrt {

std::shared_ptr<const Client> Client::create(std::shared_ptr<const Plugin> plugin,
                                             const NamedValues& options) {
  const ErrorContext context([&] {
    std::string text = "creating a client of " + plugin->path().string();
    for (const NamedValue& option : options) text += " " + to_string(option);
    return text;
  });
  const auto c_options = to_c(options);
  PJRT_Client_Create_Args args{};
  args.create_options = c_options.data();
  args.num_options = c_options.size();
  HUM_PJRT_CALL(plugin->api(), PJRT_Client_Create, args);
  return std::shared_ptr<const Client>(new Client(std::move(plugin), args.client));
}

Client::Client(std::shared_ptr<const Plugin> plugin, PJRT_Client* client)
    : plugin_(std::move(plugin)), client_(client) {
  PJRT_Client_Devices_Args args{};
  args.client = client_;
  HUM_PJRT_CALL(api(), PJRT_Client_Devices, args);
  for (size_t i = 0; i < args.num_devices; ++i) devices_.emplace_back(api(), args.devices[i]);
  std::ranges::sort(devices_, {}, &Device::id);
}

Client::~Client() {
  PJRT_Client_Destroy_Args args{};
  args.client = client_;
  (void)HUM_PJRT_TRY(api(), PJRT_Client_Destroy, args);
}

std::string Client::platform_name() const {
  PJRT_Client_PlatformName_Args args{};
  args.client = client_;
  HUM_PJRT_CALL(api(), PJRT_Client_PlatformName, args);
  return {args.platform_name, args.platform_name_size};
}

std::string Client::platform_version() const {
  PJRT_Client_PlatformVersion_Args args{};
  args.client = client_;
  HUM_PJRT_CALL(api(), PJRT_Client_PlatformVersion, args);
  return {args.platform_version, args.platform_version_size};
}

const Device& Client::device(int id) const {
  const auto found = std::ranges::find(devices_, id, &Device::id);
  HUM_REQUIRE(found != devices_.end(), "no device {}: the client has {}", id, devices_.size());
  return *found;
}

}  // namespace hum::pjrt
