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
  // Takes over `buffer`.
  Buffer(std::shared_ptr<const Client> client, PJRT_Buffer* buffer)
      : buffer_(buffer, Deleter{std::move(client)}) {}

  // Row-major elements are copied before this returns. Throws when the sizes differ.
  static Buffer from_host(std::shared_ptr<const Client> client, const Device& device,
                          const ArrayType& type, std::span<const std::byte> data);
  struct Upload;
  // `data` may still be read until `done` has ended.
  static Upload from_host_async(std::shared_ptr<const Client> client, const Device& device,
                                const ArrayType& type, std::span<const std::byte> data);

  // Row-major elements arrive in `data` when the event has ended; blocks on nothing itself.
  Event to_host_async(std::span<std::byte> data) const;
  // The same, awaited.
  void to_host(std::span<std::byte> data) const { to_host_async(data).await(); }

  PJRT_Buffer* get() const { return buffer_.get(); }
  ArrayType type() const;
  Device device() const;
  size_t on_device_bytes() const;
  // Frees the device memory; later uses fail. A donated buffer is deleted too.
  void delete_now();
  bool is_deleted() const;
  // Ends when the contents are there. Throws on await() when the computation failed.
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
