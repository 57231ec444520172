#include "audio/smf_impl.h"
#include "base/error.h"

namespace hum::audio {
namespace {

// Reads big-endian numbers; fails at the end of the data.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }

  std::string_view take(size_t count) {
    if (count > bytes_.size()) fail_midi("it ends too early");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  uint32_t number(size_t count) {
    uint32_t value = 0;
    for (const char c : take(count)) value = value << 8 | static_cast<uint8_t>(c);
    return value;
  }
  int peek() const { return bytes_.empty() ? -1 : static_cast<uint8_t>(bytes_[0]); }
  int data_byte() {
    const uint32_t value = number(1);
    if (value > 0x7f) fail_midi("a data byte is above 127");
    return static_cast<int>(value);
  }
  uint32_t variable_length() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t byte = number(1);
      value = value << 7 | (byte & 0x7f);
      if (byte < 0x80) return value;
    }
    fail_midi("a length has more than four bytes");
  }

 private:
  std::string_view bytes_;
};

class TrackReader {
 public:
  TrackReader(std::string_view body, int track, std::vector<SmfEvent>& events)
      : bytes_(body), track_(track), events_(events) {}

  void read() {
    while (!bytes_.empty() && !ended_) {
      tick_ += bytes_.variable_length();
      const int status = bytes_.peek();
      if (status < 0) fail_midi("a track ends after a delta time");
      if (status == 0xff) {
        read_meta();
      } else if (status == 0xf0 || status == 0xf7) {
        bytes_.take(1);
        bytes_.take(bytes_.variable_length());
      } else if (status > 0xf0) {
        fail_midi("it contains real-time messages");
      } else {
        read_channel_message(status);
      }
    }
    add(SmfKind::kEnd, 0, 0, 0);
  }

 private:
  void add(SmfKind kind, int channel, int data1, int data2, std::string_view text = {}) {
    events_.push_back({tick_, kind, track_, channel, data1, data2, text});
  }

  void read_meta() {
    bytes_.take(1);
    const uint32_t type = bytes_.number(1);
    const std::string_view body = bytes_.take(bytes_.variable_length());
    if (type == 0x51 && body.size() == 3) {
      const int microseconds = static_cast<int>(Bytes(body).number(3));
      if (microseconds == 0) fail_midi("a tempo is zero");
      add(SmfKind::kTempo, 0, microseconds, 0);
    } else if (type == 0x59 && body.size() == 2) {
      add(SmfKind::kKey, 0, static_cast<int8_t>(body[0]), body[1] == 1 ? 1 : 0);
    } else if (type == 0x58 && body.size() == 4) {
      const int beats = static_cast<uint8_t>(body[0]);
      const int power = static_cast<uint8_t>(body[1]);
      if (beats == 0 || power > 6) fail_midi("a time signature is invalid");
      add(SmfKind::kMeter, 0, beats, 1 << power);
    } else if (type == 0x03) {
      add(SmfKind::kName, 0, 0, 0, body);
    } else if (type == 0x2f) {
      ended_ = true;
    }
  }

  void read_channel_message(int status) {
    if (status >= 0x80) {
      running_status_ = status;
      bytes_.take(1);
    } else if (running_status_ < 0) {
      fail_midi("a track starts with a data byte");
    }
    const int channel = running_status_ & 0x0f;
    const int kind = running_status_ & 0xf0;
    const int data1 = bytes_.data_byte();
    const int data2 = kind == 0xc0 || kind == 0xd0 ? 0 : bytes_.data_byte();
    if (kind == 0x80 || (kind == 0x90 && data2 == 0)) add(SmfKind::kNoteOff, channel, data1, 0);
    if (kind == 0x90 && data2 > 0) add(SmfKind::kNoteOn, channel, data1, data2);
    if (kind == 0xb0) add(SmfKind::kControl, channel, data1, data2);
    if (kind == 0xc0) add(SmfKind::kProgram, channel, data1, 0);
    if (kind == 0xe0) add(SmfKind::kWheel, channel, (data2 << 7 | data1) - 8192, 0);
  }

  Bytes bytes_;
  int track_;
  std::vector<SmfEvent>& events_;
  int64_t tick_ = 0;
  int running_status_ = -1;
  bool ended_ = false;
};

}  // namespace

void fail_midi(const std::string& what) {
  fail(ExitCode::kBadData, "not a valid MIDI file: " + what);
}

SmfFile parse_smf(std::string_view file) {
  Bytes bytes(file);
  if (!file.starts_with("MThd")) fail_midi("it does not start with MThd");
  bytes.take(4);
  Bytes header(bytes.take(bytes.number(4)));
  const uint32_t type = header.number(2);
  header.number(2);  // the track count; counting chunks is more reliable
  if (type > 1) fail_midi(fmt::format("type {} is not supported, only 0 and 1", type));

  SmfFile result;
  result.division = static_cast<int>(header.number(2));
  for (int track = 0; !bytes.empty();) {
    const std::string_view chunk = bytes.take(4);
    const std::string_view body = bytes.take(bytes.number(4));
    if (chunk == "MTrk") TrackReader(body, track++, result.events).read();
  }
  if (result.events.empty()) fail_midi("it has no track");
  return result;
}

}  // namespace hum::audio
