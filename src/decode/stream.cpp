#include "decode/stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "decode/confined.h"
#include "decode/handover_impl.h"
#include "decode/memory_file.h"

namespace hum::decode {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kExportAgain = "the file is damaged; export it again, as wav";
// A block is shorter; so are the texts of an error.
constexpr int64_t kMostBlockFrames = int64_t{1} << 16;
constexpr uint32_t kMostTextBytes = 4096;
constexpr int kMostChannels = 1024;

struct Sockets {
  OpenFile ours, childs;
};

Sockets new_sockets() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail(ExitCode::kTemporary, fmt::format("decoding: no socket: {}", std::strerror(errno)),
         "try again later");
  }
  // So that the decoder works ahead. The system may allow less.
  constexpr int kAheadBytes = 1 << 20;
  ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &kAheadBytes, sizeof(kAheadBytes));
  return {OpenFile(ends[0]), OpenFile(ends[1])};
}

DecodeOrder order_of(const StreamLimits& limits) {
  DecodeOrder order;
  order.is_stream = true;
  order.memory_bytes = limits.memory_bytes;
  order.processor_s = int64_t{1} << 31;  // the parent watches it, file by file
  order.name = limits.words.name;
  order.format_hint = limits.words.format_hint;
  order.length_hint = limits.words.length_hint;
  return order;
}

ChildProcess start(const StreamLimits& limits, const OpenFile& socket) {
  const OpenFile nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const int files[] = {nothing.descriptor(), nothing.descriptor(), nothing.descriptor(),
                       socket.descriptor()};
  return ChildProcess(decoder_command(limits.program, order_of(limits)), files);
}

[[noreturn]] void fail_nonsense(const std::string& name) {
  fail(ExitCode::kBadData, name + ": makes its decoder answer nonsense", kExportAgain);
}

[[noreturn]] void fail_ended(const std::string& name, const ProcessEnd& ending) {
  switch (ending.signal) {
    case SIGKILL:
      fail(ExitCode::kTemporary,
           name + ": its decoder was killed, probably by the machine to free memory",
           "try it again");
    case SIGBUS:
      fail(ExitCode::kBadData, name + ": could not be read to its end while it was decoded",
           "try it again when it is whole and its storage works");
    case SIGSYS:
      fail(ExitCode::kBadData, name + ": makes its decoder do what no sound file needs",
           kExportAgain);
    default:
      fail(ExitCode::kBadData,
           fmt::format("{}: crashes its decoder ({} {})", name,
                       ending.signal == 0 ? "exit code" : "signal",
                       ending.signal == 0 ? ending.exit_code : ending.signal),
           kExportAgain);
  }
}

}  // namespace

class Decoder {
 public:
  explicit Decoder(const StreamLimits& limits)
      : limits_(limits), sockets_(new_sockets()), process_(start(limits, sockets_.childs)) {
    sockets_.childs = OpenFile();  // so that ours ends with the child
    const StreamBlock ready = receive_block();
    if (ready.exit_code != 0) {
      const Error error = receive_error(ready);
      fail(error.code(), error.message(), error.hint());
    }
    if (ready.frames != 0) fail_nonsense(name());
  }

  void send(const StreamRequest& request, const OpenFile& file);
  // Block at most for the limits, and then kill the child.
  StreamBlock receive_block();
  Error receive_error(const StreamBlock& block);
  void receive(void* bytes, size_t count);
  const std::string& name() const { return limits_.words.name; }
  bool has_ended() const { return process_.has_ended(); }

 private:
  std::string receive_text(uint32_t bytes);
  void wait(double processor_s, Clock::time_point start);

  const StreamLimits& limits_;
  Sockets sockets_;
  ChildProcess process_;
};

void Decoder::send(const StreamRequest& request, const OpenFile& file) {
  StreamRequest sent = request;
  iovec part{&sent, sizeof(sent)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int descriptor = file.descriptor();
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(descriptor));
  ssize_t written = -1;
  do {
    written = ::sendmsg(sockets_.ours.descriptor(), &message, MSG_NOSIGNAL);
  } while (written < 0 && errno == EINTR);
  if (written != sizeof(sent)) fail_ended(name(), process_.end(std::chrono::seconds(1)));
}

// Until there is something to read, or the child has ended.
void Decoder::wait(double processor_s, Clock::time_point start) {
  constexpr int kLook_ms = 500;
  pollfd socket{sockets_.ours.descriptor(), POLLIN, 0};
  while (::poll(&socket, 1, kLook_ms) <= 0) {
    const double used_s = process_.processor_s() - processor_s;
    const auto most_s = static_cast<double>(limits_.processor_time.count());
    const bool is_busy = used_s > most_s;
    if (!is_busy && Clock::now() - start < limits_.wall_time) continue;
    process_.end(std::chrono::milliseconds(0));
    fail(ExitCode::kBadData,
         is_busy ? fmt::format("{}: keeps its decoder busy for more than {:g} s", name(), most_s)
                 : fmt::format("{}: was not read within {} s", name(),
                               limits_.wall_time.count() / 1000),
         is_busy ? kExportAgain : "try it again when its storage is faster");
  }
}

void Decoder::receive(void* bytes, size_t count) {
  auto* next = static_cast<char*>(bytes);
  const double processor_s = process_.processor_s();
  const auto start = Clock::now();
  while (count > 0) {
    wait(processor_s, start);
    const ssize_t read = ::read(sockets_.ours.descriptor(), next, count);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) fail_ended(name(), process_.end(std::chrono::seconds(1)));
    next += read;
    count -= static_cast<size_t>(read);
  }
}

std::string Decoder::receive_text(uint32_t bytes) {
  if (bytes > kMostTextBytes) fail_nonsense(name());
  std::string text(bytes, '\0');
  receive(text.data(), text.size());
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, ' ');
  return text;
}

StreamBlock Decoder::receive_block() {
  StreamBlock block;
  receive(&block, sizeof(block));
  if (block.magic != kResultMagic) fail_nonsense(name());
  return block;
}

Error Decoder::receive_error(const StreamBlock& block) {
  const std::string message = receive_text(block.message_bytes);
  const std::string hint = receive_text(block.hint_bytes);
  const auto code = static_cast<ExitCode>(block.exit_code);
  const bool is_known =
      code == ExitCode::kBadData || code == ExitCode::kTemporary || code == ExitCode::kUnavailable;
  return {is_known ? code : ExitCode::kFailure, message, hint};
}

Decoders::Decoders(StreamLimits limits) : limits_(std::move(limits)) {
  idle_.push_back(std::make_unique<Decoder>(limits_));
}

Decoders::~Decoders() = default;

std::unique_ptr<Decoder> Decoders::take() {
  while (!idle_.empty()) {
    auto decoder = std::move(idle_.back());
    idle_.pop_back();
    if (!decoder->has_ended()) return decoder;  // else no file is at fault
  }
  return std::make_unique<Decoder>(limits_);
}

std::unique_ptr<SoundStream> Decoders::open(const fs::path& path, double max_seconds) {
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() && errno == EACCES) {
    fail(ExitCode::kNoPermission, limits_.words.name + ": cannot be read",
         "check its permissions (ls -l)");
  }
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(ExitCode::kNoInput, limits_.words.name + ": is not a file, or gone", "name a file");
  }
  auto decoder = take();
  decoder->send({.file_bytes = status.st_size, .max_seconds = max_seconds}, file);
  return std::unique_ptr<SoundStream>(new SoundStream(*this, std::move(decoder), max_seconds));
}

SoundStream::SoundStream(Decoders& decoders, std::unique_ptr<Decoder> decoder, double max_seconds)
    : decoders_(decoders), decoder_(std::move(decoder)), max_seconds_(max_seconds) {}

SoundStream::~SoundStream() = default;  // ends a child that has not reached the end

audio::AudioBuffer SoundStream::next() {
  audio::AudioBuffer sound{rate_hz_, channels_, {}};
  if (decoder_ == nullptr) return sound;
  const StreamBlock block = decoder_->receive_block();
  if (block.exit_code != 0) {
    const Error error = decoder_->receive_error(block);
    decoders_.idle_.push_back(std::move(decoder_));
    fail(error.code(), error.message(), error.hint());
  }
  if (block.frames == 0) {
    if (frames_ == 0 || !is_finite_) fail_nonsense(decoder_->name());
    decoders_.idle_.push_back(std::move(decoder_));
    return sound;
  }
  if (frames_ == 0) {
    sound.rate_hz = rate_hz_ = block.rate_hz;
    sound.channels = channels_ = block.channels;
  }
  const bool is_plausible = block.rate_hz == rate_hz_ && block.channels == channels_ &&
                            rate_hz_ >= kLowestRate_hz && rate_hz_ <= kHighestRate_hz &&
                            channels_ >= 1 && channels_ <= kMostChannels && block.frames >= 1 &&
                            block.frames <= kMostBlockFrames &&
                            static_cast<double>(frames_) <= max_seconds_ * rate_hz_;
  if (!is_plausible) fail_nonsense(decoder_->name());
  frames_ += block.frames;
  sound.samples.resize(static_cast<size_t>(block.frames) * static_cast<size_t>(channels_));
  decoder_->receive(sound.samples.data(), sound.samples.size() * sizeof(float));
  is_finite_ = is_finite_ && std::ranges::all_of(
                                 sound.samples, [](float sample) { return std::isfinite(sample); });
  return sound;
}

}  // namespace hum::decode
