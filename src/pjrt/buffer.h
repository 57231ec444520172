// An array on a device.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "pjrt/array_type.h"
#include "pjrt/client.h"
#include "pjrt/event.h"

namespace hum::pjrt {

class Buffer {
 public:
  // Takes ownership of `buffer`.
  Buffer(std::shared_ptr<const Client> client, PJRT_Buffer* buffer)
      : buffer_(buffer, Deleter{std::move(client)}) {}

  // Copies row-major elements before returning. Throws if the sizes differ.
  static Buffer from_host(std::shared_ptr<const Client> client, const Device& device,
                          const ArrayType& type, std::span<const std::byte> data);
  // The same without a copy where the plugin can read host memory: `data` must stay as it is for
  // as long as the buffer lives.
  static Buffer view_of_host(std::shared_ptr<const Client> client, const Device& device,
                             const ArrayType& type, std::span<const std::byte> data);
  struct Upload;
  // `data` may be read until `done` is ready.
  static Upload from_host_async(std::shared_ptr<const Client> client, const Device& device,
                                const ArrayType& type, std::span<const std::byte> data);

  // Copies row-major elements to `data`, complete when the event is ready; does not block.
  Event to_host_async(std::span<std::byte> data) const;
  // Same, and waits.
  void to_host(std::span<std::byte> data) const { to_host_async(data).await(); }

  PJRT_Buffer* get() const { return buffer_.get(); }
  ArrayType type() const;
  Device device() const;
  size_t on_device_bytes() const;
  // Frees the device memory; later uses fail. Also deletes a donated buffer.
  void delete_now();
  bool is_deleted() const;
  // Ready when the contents are available. await() throws if the computation failed.
  Event ready() const;
  Buffer copy_to(const Device& device) const;

 private:
  struct Deleter {
    std::shared_ptr<const Client> client;
    void operator()(PJRT_Buffer* buffer) const;
  };
  const PJRT_Api& api() const { return client()->api(); }
  const std::shared_ptr<const Client>& client() const { return buffer_.get_deleter().client; }
  std::unique_ptr<PJRT_Buffer, Deleter> buffer_;
};

struct Buffer::Upload {
  Buffer buffer;
  Event done;
};

}  // namespace hum::pjrt
