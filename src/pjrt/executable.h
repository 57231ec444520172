// A compiled program: its memory needs, cost and serialized bytes. LoadedExecutable runs it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pjrt/array_type.h"
#include "pjrt/client.h"

namespace hum::pjrt {

class Executable {
 public:
  // Takes ownership of `executable`.
  Executable(std::shared_ptr<const Client> client, PJRT_Executable* executable)
      : executable_(executable, Deleter{std::move(client)}) {}

  std::string name() const;
  std::vector<ArrayType> outputs() const;
  std::string serialize() const;
  // Absent, with the reason in `why_not`, if the plugin does not support it.
  std::optional<std::string> try_serialize(std::string& why_not) const;

  // Bytes on one device. Activation memory = arguments + outputs + temporaries - aliases.
  struct MemoryStats {
    int64_t generated_code_bytes = 0;
    int64_t argument_bytes = 0;
    int64_t output_bytes = 0;
    int64_t alias_bytes = 0;
    int64_t temporary_bytes = 0;
    int64_t total_bytes() const {
      return argument_bytes + output_bytes + temporary_bytes - alias_bytes;
    }
  };
  // Absent if the plugin does not report it.
  std::optional<MemoryStats> memory_stats() const;
  // E.g. "flops", "bytes accessed"; empty if the plugin does not report them.
  NamedValues cost_analysis() const;

 private:
  struct Deleter {
    std::shared_ptr<const Client> client;
    void operator()(PJRT_Executable* executable) const;
  };
  const PJRT_Api& api() const { return executable_.get_deleter().client->api(); }
  std::unique_ptr<PJRT_Executable, Deleter> executable_;
};

}  // namespace hum::pjrt
