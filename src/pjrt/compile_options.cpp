#include "pjrt/compile_options.h"

#include <bit>
#include <string_view>

#include "base/error.h"

namespace hum::pjrt {
namespace {

// Protobuf's wire format: each field is a varint key (number * 8 + wire type) and its payload.
class Message {
 public:
  void integer(int field, int64_t value) {
    varint(static_cast<uint64_t>(field) << 3 | 0);
    varint(static_cast<uint64_t>(value));
  }
  void real(int field, double value) {
    varint(static_cast<uint64_t>(field) << 3 | 1);
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(bits >> (8 * i)));
  }
  void text(int field, std::string_view value) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(int field, const Message& value) { text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

// xla.DeviceAssignmentProto with one computation.
Message device_assignment(const std::vector<int>& device_ids) {
  Message computation;
  for (const int id : device_ids) computation.integer(/*replica_device_ids*/ 1, id);
  Message assignment;
  assignment.integer(/*replica_count*/ 1, static_cast<int64_t>(device_ids.size()));
  assignment.integer(/*computation_count*/ 2, 1);
  assignment.message(/*computation_devices*/ 3, computation);
  return assignment;
}

// xla.ExecutableBuildOptionsProto
Message build_options(const CompileOptions& options) {
  Message build;
  build.integer(/*device_ordinal: unset*/ 1, -1);
  build.integer(/*num_replicas*/ 4, static_cast<int64_t>(options.device_ids.size()));
  build.integer(/*num_partitions*/ 5, 1);
  build.message(/*device_assignment*/ 9, device_assignment(options.device_ids));
  return build;
}

// xla.OptionOverrideProto
Message override_value(const std::variant<std::string, bool, int64_t, double>& value) {
  struct Write {
    Message& out;
    void operator()(const std::string& v) const { out.text(/*string_field*/ 1, v); }
    void operator()(bool v) const { out.integer(/*bool_field*/ 2, v ? 1 : 0); }
    void operator()(int64_t v) const { out.integer(/*int_field*/ 3, v); }
    void operator()(double v) const { out.real(/*double_field*/ 4, v); }
  };
  Message result;
  std::visit(Write{result}, value);
  return result;
}

}  // namespace

std::string serialize(const CompileOptions& options) {
  HUM_REQUIRE(!options.device_ids.empty(), "compile options: no device given");
  Message message;
  message.message(/*executable_build_options*/ 3, build_options(options));
  for (const auto& [name, value] : options.overrides) {
    Message entry;
    entry.text(/*key*/ 1, name);
    entry.message(/*value*/ 2, override_value(value));
    message.message(/*env_option_overrides*/ 7, entry);
  }
  return message.bytes();
}

}  // namespace hum::pjrt
