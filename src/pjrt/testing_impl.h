// Shared by the tests of this folder: a CPU client and float buffers.
#pragma once

#include <memory>
#include <vector>

#include "pjrt/buffer.h"
#include "pjrt/client.h"

namespace hum::pjrt {

inline std::shared_ptr<const Client> cpu_client(int64_t devices = 1) {
  return Client::create(Plugin::open(), {{"cpu_device_count", devices}});
}

inline Buffer upload_floats(const std::shared_ptr<const Client>& client, int device,
                            const std::vector<float>& values) {
  const ArrayType type{PJRT_Buffer_Type_F32, {static_cast<int64_t>(values.size())}};
  return Buffer::from_host(client, client->device(device), type, std::as_bytes(std::span(values)));
}

inline std::vector<float> download_floats(const Buffer& buffer) {
  std::vector<float> values(static_cast<size_t>(buffer.type().elements()));
  buffer.to_host(std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace hum::pjrt
