// A table of every environment variable that hum reads (`hum env` prints it).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hum {

struct EnvVariable {
  std::string_view name;
  std::string_view default_value;
  std::string_view help;
  bool secret = false;  // never shown
};

// All variables. Reading a variable that is not in this table is a bug and throws.
std::span<const EnvVariable> env_table();

std::string env_string(std::string_view name, std::string_view default_value = "");
// "0", "false", "off", "no" and the empty string are false.
bool env_flag(std::string_view name, bool default_value);
int64_t env_int(std::string_view name, int64_t default_value);

}  // namespace hum
