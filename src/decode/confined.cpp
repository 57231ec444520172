// The parent of a decoding child: hands it the upload, waits, and checks what comes back.
#include "decode/confined.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "decode/container.h"
#include "decode/handover_impl.h"
#include "decode/memory_file.h"

namespace hum::decode {
namespace fs = std::filesystem;
namespace {

// A text of the child's, which may hold anything.
std::string printable(std::string_view text) {
  constexpr size_t kLongest = 500;
  std::string result(text.substr(0, kLongest));
  std::ranges::replace_if(
      result, [](char c) { return c < ' ' || c > '~'; }, ' ');
  return result;
}

// Stands for the sound's name in the child's texts: a path may hold any bytes, and be long.
constexpr std::string_view kName = "<name>";

std::string named(std::string text, const std::string& name) {
  for (size_t at = 0; (at = text.find(kName, at)) != std::string::npos; at += name.size()) {
    text.replace(at, kName.size(), name);
  }
  return text;
}

DecodeOrder order_of(const DecodeLimits& limits) {
  DecodeOrder order;
  order.mono = limits.mono;
  order.max_seconds = limits.max_seconds;
  order.min_seconds = limits.min_seconds;
  order.result_bytes = limits.result_bytes;
  order.memory_bytes = limits.memory_bytes;
  order.processor_s = limits.processor_time.count();
  order.name = kName;
  order.format_hint = limits.format_hint;
  order.length_hint = limits.length_hint;
  return order;
}

[[noreturn]] void fail_killed(const ProcessEnd& ending, const DecodeLimits& limits) {
  const std::string& name = limits.name;
  switch (ending.signal) {
    case SIGXFSZ:
      fail(ExitCode::kBadData,
           fmt::format("{} holds more than {} MiB of samples", name, limits.result_bytes >> 20),
           "use a shorter file, or one with a lower sample rate");
    case SIGKILL:
      fail(ExitCode::kTemporary,
           name + " lost its decoder: the machine ended it, probably to free memory",
           "try again later");
    case SIGSYS:
      fail(ExitCode::kBadData, name + " made its decoder do what no sound file needs",
           "the file is damaged or malicious; export it again, as wav");
    default:
      fail(ExitCode::kBadData,
           fmt::format("{} crashed its decoder (signal {})", name, ending.signal),
           "the file is damaged; export it again, as wav");
  }
}

// Throws the error that the child reported, if it did.
void require_no_error(std::string_view result, const DecodeLimits& limits) {
  ResultHeader header;
  if (result.size() < sizeof(header)) return;
  std::memcpy(&header, result.data(), sizeof(header));
  if (header.magic != kResultMagic || header.exit_code == 0) return;
  const std::string_view texts = result.substr(sizeof(header));
  if (header.message_bytes > texts.size() ||
      header.hint_bytes > texts.size() - header.message_bytes) {
    fail(ExitCode::kBadData, limits.name + " made its decoder answer nonsense",
         "the file is damaged or malicious; export it again, as wav");
  }
  const auto code = static_cast<ExitCode>(header.exit_code);
  const bool is_known =
      code == ExitCode::kBadData || code == ExitCode::kTemporary || code == ExitCode::kUnavailable;
  const auto text = [&](size_t at, size_t bytes) {
    return named(printable(texts.substr(at, bytes)), limits.name);
  };
  fail(is_known ? code : ExitCode::kFailure, text(0, header.message_bytes),
       text(header.message_bytes, header.hint_bytes));
}

// Throws what the end of a child means, unless it ended by itself and well.
void require_success(const ProcessEnd& ending, const DecodeOrder& order,
                     const DecodeLimits& limits) {
  if (ending.timed_out) {
    fail(ExitCode::kTemporary,
         fmt::format("{} was not decoded within {} s", limits.name,
                     std::chrono::ceil<std::chrono::seconds>(limits.wall_time).count()),
         "the machine is busy; try again later");
  }
  if (ending.exit_code == 0) return;
  // ffmpeg catches the signal for it.
  const auto limit_s = static_cast<double>(limits.processor_time.count());
  if (ending.signal == SIGXCPU || ending.processor_s >= limit_s) {
    fail(ExitCode::kBadData,
         fmt::format("{} takes more than {:g} s to decode", limits.name, limit_s),
         "export the file again, as 16-bit wav");
  }
  if (ending.signal != 0) fail_killed(ending, limits);
  if (!order.demuxer.empty()) {
    fail(ExitCode::kBadData,
         fmt::format("{} is a damaged {} file, or one without sound", limits.name,
                     order.demuxer == "mov" ? "m4a" : "webm"),
         "record or export it again, as wav");
  }
  fail(ExitCode::kUnavailable,
       fmt::format("{}: the decoder ended with code {}", limits.name, ending.exit_code),
       "check the installation of hum");
}

// Runs the child on `upload`. `ffmpeg`: if the order is for it. Returns the sealed result.
// Throws what the child reported, or what its end means.
OpenFile run_order(const DecodeOrder& order, const OpenFile& upload, const OpenFile& ffmpeg,
                   const DecodeLimits& limits) {
  const OpenFile nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const OpenFile log = new_memory_file();
  OpenFile result = new_memory_file();
  std::vector<int> files = {nothing.descriptor(), nothing.descriptor(), log.descriptor(),
                            upload.descriptor(), result.descriptor()};
  if (ffmpeg.is_open()) files.push_back(ffmpeg.descriptor());
  const ProcessEnd ending =
      ChildProcess(decoder_command(limits.program, order), files).end(limits.wall_time);
  seal(result);
  const std::string messages = printable(FileView(log.descriptor()).bytes());
  if (!messages.empty()) spdlog::debug("decoding: {}", messages);
  require_success(ending, order, limits);
  require_no_error(FileView(result.descriptor()).bytes(), limits);
  return result;
}

// A name without a slash is searched in PATH, as a shell does.
OpenFile open_ffmpeg(const DecodeLimits& limits, Container container) {
  std::vector<std::string> places = {limits.ffmpeg};
  if (limits.ffmpeg.find('/') == std::string::npos) {
    places.clear();
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (folder.starts_with('/')) places.push_back(folder + "/" + limits.ffmpeg);
    }
  }
  for (const std::string& place : places) {
    std::error_code ignored;
    if (!fs::is_regular_file(place, ignored) || ::access(place.c_str(), X_OK) != 0) continue;
    OpenFile program(::open(place.c_str(), O_PATH | O_CLOEXEC));
    if (program.is_open()) return program;
  }
  fail(ExitCode::kUnavailable,
       fmt::format("{} is in a format ({}) that only the ffmpeg program can read, and it is not "
                   "installed",
                   limits.name, user_name(container)),
       "use wav, flac, ogg or mp3, or install ffmpeg where hum runs (apt install ffmpeg)");
}

// The sound of a container as a wav file.
OpenFile demuxed(const OpenFile& upload, Container container, const DecodeLimits& limits) {
  DecodeOrder order = order_of(limits);
  order.demuxer = demuxer_name(container);
  return run_order(order, upload, open_ffmpeg(limits, container), limits);
}

// Throws unless the header describes the result and is plausible.
ResultHeader checked_header(std::string_view result, const DecodeLimits& limits) {
  ResultHeader header;
  bool is_plausible = result.size() >= sizeof(header);
  if (is_plausible) {
    std::memcpy(&header, result.data(), sizeof(header));
    const uint64_t samples = (result.size() - sizeof(header)) / sizeof(float);
    is_plausible = header.magic == kResultMagic && header.rate_hz >= kLowestRate_hz &&
                   header.rate_hz <= kHighestRate_hz && header.channels >= 1 &&
                   header.channels <= (limits.mono ? 1 : 2) && header.frames >= 1 &&
                   static_cast<uint64_t>(header.frames) <= samples &&
                   static_cast<uint64_t>(header.frames * header.channels) <= samples &&
                   static_cast<double>(header.frames) <= limits.max_seconds * header.rate_hz &&
                   header.source_channels >= 1 && header.only_channel >= -1 &&
                   header.only_channel < header.source_channels && header.clipped_fraction >= 0 &&
                   header.clipped_fraction <= 1;
  }
  if (is_plausible) return header;
  fail(ExitCode::kBadData, limits.name + " made its decoder answer nonsense",
       "the file is damaged or malicious; export it again, as wav");
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The header of a wav file of 32-bit floats (format 3), for `data_bytes` of samples.
std::string wav_header(const ResultHeader& sound, uint32_t data_bytes) {
  constexpr uint32_t kHeaderBytes = 48, kFormatBytes = 16, kFactBytes = 4;
  const auto channels = static_cast<uint16_t>(sound.channels);
  const auto frame_bytes = static_cast<uint16_t>(channels * sizeof(float));
  const auto rate_hz = static_cast<uint32_t>(sound.rate_hz);
  std::string bytes = "RIFF";
  append(bytes, data_bytes + kHeaderBytes);
  bytes += "WAVEfmt ";
  append(bytes, kFormatBytes);
  append(bytes, uint16_t{3});
  append(bytes, channels);
  append(bytes, rate_hz);
  append(bytes, rate_hz * frame_bytes);
  append(bytes, frame_bytes);
  append(bytes, static_cast<uint16_t>(8 * sizeof(float)));
  bytes += "fact";
  append(bytes, kFactBytes);
  append(bytes, static_cast<uint32_t>(sound.frames));
  bytes += "data";
  append(bytes, data_bytes);
  return bytes;
}

// Copies the samples, which must all be finite.
void write_samples(AtomicFile& wav, std::string_view samples, const DecodeLimits& limits) {
  std::vector<float> block(size_t{1} << 18);
  while (!samples.empty()) {
    const std::string_view part = samples.substr(0, block.size() * sizeof(float));
    std::memcpy(block.data(), part.data(), part.size());
    const auto end = block.begin() + static_cast<ptrdiff_t>(part.size() / sizeof(float));
    if (!std::all_of(block.begin(), end, [](float sample) { return std::isfinite(sample); })) {
      fail(ExitCode::kBadData, limits.name + " made its decoder answer nonsense",
           "the file is damaged or malicious; export it again, as wav");
    }
    wav.write(part);
    samples.remove_prefix(part.size());
  }
}

Decoded write_wav(const OpenFile& result, const fs::path& path, const DecodeLimits& limits) {
  const FileView view(result.descriptor());
  const ResultHeader header = checked_header(view.bytes(), limits);
  const auto data_bytes =
      static_cast<size_t>(header.frames) * static_cast<size_t>(header.channels) * sizeof(float);
  HUM_REQUIRE(data_bytes <= 0xffff0000u, "decode: {} bytes do not fit a wav file", data_bytes);
  AtomicFile wav(path);
  wav.write(wav_header(header, static_cast<uint32_t>(data_bytes)));
  write_samples(wav, view.bytes().substr(sizeof(header), data_bytes), limits);
  wav.commit();
  Decoded decoded{static_cast<double>(header.frames) / header.rate_hz,
                  header.rate_hz,
                  header.channels,
                  {header.rate_hz, header.source_channels, header.clipped_fraction, {}}};
  if (header.only_channel >= 0) decoded.source.only_channel = header.only_channel;
  return decoded;
}

}  // namespace

Decoded decode_confined(const fs::path& upload, const fs::path& wav, const DecodeLimits& limits) {
  OpenFile file = sealed_copy(upload, limits.name);
  DecodeOrder order = order_of(limits);
  if (const Container container = container_in(file); container != Container::kNone) {
    file = demuxed(file, container, limits);
    order.is_cut = true;
  }
  return write_wav(run_order(order, file, OpenFile(), limits), wav, limits);
}

}  // namespace hum::decode
