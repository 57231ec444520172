#include "base/sigv4.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"

namespace hum {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

bool is_unreserved(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
         c == '~';
}

}  // namespace

std::string uri_encode(std::string_view text, bool keep_slashes) {
  std::string encoded;
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slashes && c == '/')) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string uri_decode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string canonical_query(const UriQuery& query) {
  UriQuery encoded;
  for (const auto& [name, value] : query) encoded.emplace_back(uri_encode(name), uri_encode(value));
  std::ranges::sort(encoded);
  std::string text;
  for (const auto& [name, value] : encoded) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, value);
  }
  return text;
}

std::string authorization(const UnsignedRequest& request, const AwsCredentials& credentials,
                          std::string_view region, std::string_view service) {
  std::string headers, names;
  for (const auto& [name, value] : request.headers) {
    headers += fmt::format("{}:{}\n", name, value);
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path, request.query, headers,
                  names, request.headers.at("x-amz-content-sha256"));
  const std::string& time = request.headers.at("x-amz-date");
  const std::string date = time.substr(0, 8);
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", date, region, service);
  std::string key = "AWS4" + credentials.secret_access_key;
  for (const std::string_view part : {std::string_view(date), region, service}) {
    key = hmac_sha256(key, part);
  }
  const std::string to_sign =
      fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, scope, sha256(canonical));
  return fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                     credentials.access_key_id, scope, names,
                     to_hex(hmac_sha256(hmac_sha256(key, "aws4_request"), to_sign)));
}

}  // namespace hum
