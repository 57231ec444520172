// The child of stream.h: it confines itself, then decodes the files that its parent sends until the
// parent is gone.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "audio/io.h"
#include "base/error.h"
#include "decode/handover_impl.h"
#include "decode/memory_file.h"
#include "decode/sandbox.h"

namespace hum::decode {
namespace {

// 64 MB of sound. The part of the file that it came from counts as this process's memory.
constexpr size_t kSamplesBetweenForgetting = size_t{16} << 20;

void send_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(kSocketDescriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);  // the parent is gone
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void send_block(const StreamBlock& block) {
  send_bytes({reinterpret_cast<const char*>(&block), sizeof(block)});
}

void send_sound(const audio::AudioBuffer& sound) {
  send_block(
      StreamBlock{.rate_hz = sound.rate_hz, .channels = sound.channels, .frames = sound.frames()});
  send_bytes(
      {reinterpret_cast<const char*>(sound.samples.data()), sound.samples.size() * sizeof(float)});
}

void send_error(const Error& error) {
  send_block(StreamBlock{.exit_code = static_cast<int32_t>(error.code()),
                         .message_bytes = static_cast<uint32_t>(error.message().size()),
                         .hint_bytes = static_cast<uint32_t>(error.hint().size())});
  send_bytes(error.message());
  send_bytes(error.hint());
}

// Ends this process if the parent sends no more.
OpenFile receive(StreamRequest& request) {
  iovec part{&request, sizeof(request)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t received = -1;
  do {
    received = ::recvmsg(kSocketDescriptor, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (received < 0 && errno == EINTR);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (received != sizeof(request) || header == nullptr) ::_exit(0);
  int file = -1;
  std::memcpy(&file, CMSG_DATA(header), sizeof(file));
  return OpenFile(file);
}

void decode_next(const DecodeOrder& order) {
  StreamRequest request;
  const OpenFile file = receive(request);
  const FileView view(file.descriptor(), request.file_bytes);
  size_t sent = 0;
  audio::stream_audio({.bytes = view.bytes(),
                       .name = order.name,
                       .format_hint = order.format_hint,
                       .length_hint = order.length_hint},
                      request.max_seconds, [&](const audio::AudioBuffer& sound) {
                        require_rate(order.name, sound.rate_hz);
                        send_sound(sound);
                        sent += sound.samples.size();
                        if (sent < kSamplesBetweenForgetting) return;
                        view.forget();
                        sent = 0;
                      });
  send_block(StreamBlock());
}

void confine(const DecodeOrder& order) {
  limit_resources(order.processor_s, /*file_bytes=*/0);
  if (::getppid() != order.parent) ::_exit(1);  // it died before it could be followed
  limit_written_memory(order.memory_bytes);
  allow_decoding_only(kSocketDescriptor);
  send_block(StreamBlock());
}

}  // namespace

void decode_streams(const DecodeOrder& order) {
  bool is_confined = false;
  while (true) {
    try {
      if (!is_confined) confine(order);
      is_confined = true;
      decode_next(order);
    } catch (const Error& error) {
      send_error(error);
      if (!is_confined) ::_exit(1);
    } catch (const std::bad_alloc&) {
      send_error(Error(
          ExitCode::kBadData,
          fmt::format("{}: needs more than {} MiB to decode", order.name, order.memory_bytes >> 20),
          "export the file again, as 16-bit wav"));
    } catch (const std::exception& error) {
      send_error(Error(ExitCode::kFailure, error.what(), ""));
    }
  }
}

}  // namespace hum::decode
