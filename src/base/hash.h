// SHA-256, HMAC and base64, by OpenSSL.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // of OpenSSL

namespace hum {

// The SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();

  void add(std::string_view bytes);
  // Of all that was added, in lower-case hex. Call it once, at the end.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

// Returns lower-case hex.
std::string sha256(std::string_view bytes);
// Reads the file piece by piece. Throws: what open_to_read throws; kNoInput if the disk fails.
std::string sha256_file(const std::filesystem::path& path);
// Returns the 32 bytes themselves.
std::string hmac_sha256(std::string_view key, std::string_view text);
// On one line, padded with '='.
std::string base64(std::string_view bytes);

}  // namespace hum
