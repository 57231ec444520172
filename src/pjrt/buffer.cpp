#include "pjrt/buffer.h"

#include "base/error.h"
#include "pjrt/call.h"

namespace hum::pjrt {
namespace {

Buffer::Upload upload(std::shared_ptr<const Client> client, const Device& device,
                      const ArrayType& type, std::span<const std::byte> data,
                      PJRT_HostBufferSemantics semantics) {
  HUM_REQUIRE(static_cast<int64_t>(data.size()) == type.bytes(),
              "Buffer: {} needs {} bytes, got {}", type.to_string(), type.bytes(), data.size());
  PJRT_Client_BufferFromHostBuffer_Args args{};
  args.client = client->get();
  args.data = data.data();
  args.type = type.type;
  args.dims = type.dims.data();
  args.num_dims = type.dims.size();
  args.host_buffer_semantics = semantics;
  args.device = device.get();
  HUM_PJRT_CALL(client->api(), PJRT_Client_BufferFromHostBuffer, args);
  auto plugin = client->plugin();
  return {Buffer(std::move(client), args.buffer), Event(plugin, args.done_with_host_buffer)};
}

}  // namespace

Buffer Buffer::from_host(std::shared_ptr<const Client> client, const Device& device,
                         const ArrayType& type, std::span<const std::byte> data) {
  auto result = upload(std::move(client), device, type, data,
                       PJRT_HostBufferSemantics_kImmutableOnlyDuringCall);
  result.done.await();
  return std::move(result.buffer);
}

Buffer Buffer::view_of_host(std::shared_ptr<const Client> client, const Device& device,
                            const ArrayType& type, std::span<const std::byte> data) {
  return upload(std::move(client), device, type, data, PJRT_HostBufferSemantics_kImmutableZeroCopy)
      .buffer;
}

Buffer::Upload Buffer::from_host_async(std::shared_ptr<const Client> client, const Device& device,
                                       const ArrayType& type, std::span<const std::byte> data) {
  return upload(std::move(client), device, type, data,
                PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes);
}

Event Buffer::to_host_async(std::span<std::byte> data) const {
  const ArrayType array = type();
  HUM_REQUIRE(static_cast<int64_t>(data.size()) == array.bytes(),
              "Buffer: {} has {} bytes, the destination {}", array.to_string(), array.bytes(),
              data.size());
  PJRT_Buffer_ToHostBuffer_Args args{};
  args.src = buffer_.get();
  args.dst = data.data();
  args.dst_size = data.size();
  HUM_PJRT_CALL(api(), PJRT_Buffer_ToHostBuffer, args);
  return {client()->plugin(), args.event};
}

ArrayType Buffer::type() const {
  PJRT_Buffer_ElementType_Args element{};
  element.buffer = buffer_.get();
  HUM_PJRT_CALL(api(), PJRT_Buffer_ElementType, element);
  PJRT_Buffer_Dimensions_Args dims{};
  dims.buffer = buffer_.get();
  HUM_PJRT_CALL(api(), PJRT_Buffer_Dimensions, dims);
  return {element.type, {dims.dims, dims.dims + dims.num_dims}};
}

Device Buffer::device() const {
  PJRT_Buffer_Device_Args args{};
  args.buffer = buffer_.get();
  HUM_PJRT_CALL(api(), PJRT_Buffer_Device, args);
  return {api(), args.device};
}

size_t Buffer::on_device_bytes() const {
  PJRT_Buffer_OnDeviceSizeInBytes_Args args{};
  args.buffer = buffer_.get();
  HUM_PJRT_CALL(api(), PJRT_Buffer_OnDeviceSizeInBytes, args);
  return args.on_device_size_in_bytes;
}

void Buffer::delete_now() {
  PJRT_Buffer_Delete_Args args{};
  args.buffer = buffer_.get();
  HUM_PJRT_CALL(api(), PJRT_Buffer_Delete, args);
}

bool Buffer::is_deleted() const {
  PJRT_Buffer_IsDeleted_Args args{};
  args.buffer = buffer_.get();
  HUM_PJRT_CALL(api(), PJRT_Buffer_IsDeleted, args);
  return args.is_deleted;
}

Event Buffer::ready() const {
  PJRT_Buffer_ReadyEvent_Args args{};
  args.buffer = buffer_.get();
  HUM_PJRT_CALL(api(), PJRT_Buffer_ReadyEvent, args);
  return {client()->plugin(), args.event};
}

Buffer Buffer::copy_to(const Device& device) const {
  PJRT_Buffer_CopyToDevice_Args args{};
  args.buffer = buffer_.get();
  args.dst_device = device.get();
  HUM_PJRT_CALL(api(), PJRT_Buffer_CopyToDevice, args);
  return {client(), args.dst_buffer};
}

void Buffer::Deleter::operator()(PJRT_Buffer* buffer) const {
  PJRT_Buffer_Destroy_Args args{};
  args.buffer = buffer;
  (void)HUM_PJRT_TRY(client->api(), PJRT_Buffer_Destroy, args);
}

}  // namespace hum::pjrt
