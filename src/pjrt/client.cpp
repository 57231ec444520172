#include "pjrt/client.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "pjrt/call.h"

namespace hum::pjrt {
namespace {

std::optional<int64_t> integer(const NamedValues& options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &NamedValue::first);
  if (found == options.end()) return std::nullopt;
  const auto* value = std::get_if<int64_t>(&found->second);
  HUM_REQUIRE(value != nullptr, "option {} is not an integer", to_string(*found));
  return *value;
}

[[noreturn]] void fail_as_ignored(std::string_view option, const std::string& got) {
  fail(ExitCode::kUnavailable, fmt::format("{}: the plugin ignored {}", got, option),
       "use a plugin that supports this option");
}

}  // namespace

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
  // Not moved from: the context above names the plugin.
  std::shared_ptr<const Client> client(new Client(plugin, args.client));
  client->require_as_asked(options);
  return client;
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

void Client::require_as_asked(const NamedValues& options) const {
  if (const auto process = integer(options, "node_id"); process && *process != process_index()) {
    fail_as_ignored("node_id", fmt::format("requested process {}, this client is process {}",
                                           *process, process_index()));
  }
  const auto count = std::ranges::count_if(devices_, &Device::is_addressable);
  const auto asked = integer(options, "cpu_device_count");
  if (asked && *asked != count && platform_name() == "cpu") {
    fail_as_ignored("cpu_device_count",
                    fmt::format("requested {} devices, this client has {}", *asked, count));
  }
}

int Client::process_index() const {
  PJRT_Client_ProcessIndex_Args args{};
  args.client = client_;
  HUM_PJRT_CALL(api(), PJRT_Client_ProcessIndex, args);
  return args.process_index;
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
