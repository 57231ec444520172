// A client: the devices that a plugin offers to this process. Buffers and executables keep it
// alive.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pjrt/device.h"
#include "pjrt/named_value.h"
#include "pjrt/plugin.h"

namespace hum::pjrt {

class Client {
 public:
  // options: plugin-specific, e.g. {"cpu_device_count", int64_t{4}}, {"node_id", int64_t{1}}. CPU
  // plugins ignore unknown names, so these two are compared with the created client. Throws:
  // kUnavailable if a CPU client has another device count, or any client another process index,
  // than requested.
  static std::shared_ptr<const Client> create(std::shared_ptr<const Plugin> plugin,
                                              const NamedValues& options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::shared_ptr<const Plugin>& plugin() const { return plugin_; }
  const PJRT_Api& api() const { return plugin_->api(); }
  PJRT_Client* get() const { return client_; }

  // "cpu", "cuda", ...
  std::string platform_name() const;
  std::string platform_version() const;
  // The index of this process among those that share the devices; 0 if it is alone.
  int process_index() const;
  // All devices of all processes, by id.
  const std::vector<Device>& devices() const { return devices_; }
  // Throws if there is no such device.
  const Device& device(int id) const;

 private:
  Client(std::shared_ptr<const Plugin> plugin, PJRT_Client* client);
  void require_as_asked(const NamedValues& options) const;
  std::shared_ptr<const Plugin> plugin_;
  PJRT_Client* client_;
  std::vector<Device> devices_;
};

}  // namespace hum::pjrt
