// Bytes as text: amounts of memory as people write them ("512 MB", "6GB", "1.5GiB"), and hex.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hum {

// Formats with three digits and a decimal unit: "1.24 GB", "512 kB".
std::string format_bytes(int64_t bytes);

// kB, MB, GB and TB are powers of 1,000; KiB, MiB, GiB and TiB powers of 1,024; without a unit:
// bytes. Throws kConfig.
int64_t parse_bytes(std::string_view text);

// Two hex digits a byte: "0af3", "0AF3".
std::string to_hex(std::string_view bytes);
std::string to_upper_hex(std::string_view bytes);

}  // namespace hum
