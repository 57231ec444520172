#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <fstream>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"

namespace hum {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  HUM_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::add(std::string_view bytes) {
  HUM_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  HUM_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
  return to_hex({reinterpret_cast<const char*>(digest.data()), size});
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  std::ifstream in = open_to_read(path);
  Sha256 hash;
  std::string block(1 << 20, '\0');
  while (in.read(block.data(), std::ssize(block)), in.gcount() > 0) {
    hash.add(std::string_view(block).substr(0, static_cast<size_t>(in.gcount())));
  }
  if (in.bad()) {
    fail(ExitCode::kNoInput, path.string() + ": cannot be read to its end",
         "check the disk (dmesg)");
  }
  return hash.hex();
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  HUM_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(),
                 reinterpret_cast<unsigned char*>(digest.data()), &size) != nullptr);
  digest.resize(size);
  return digest;
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL writes a zero at the end
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace hum
