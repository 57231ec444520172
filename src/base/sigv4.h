// AWS Signature Version 4: computes the Authorization header of a request. Sends nothing. Source:
// AWS General Reference, "Create a signed AWS API request"; checked against botocore.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hum {

struct AwsCredentials {
  std::string access_key_id, secret_access_key;
  std::string session_token;  // optional
  bool operator==(const AwsCredentials&) const = default;
};

// Encodes all bytes except A-Z a-z 0-9 - _ . ~ (and slashes, if kept) as %XX.
std::string uri_encode(std::string_view text, bool keep_slashes = false);
// Reverses uri_encode; also decodes a plus as a space, as S3 listings with encoding-type=url need.
std::string uri_decode(std::string_view text);

using UriQuery = std::vector<std::pair<std::string, std::string>>;
// "a=1&b=x%20y": encoded, then sorted. This is the string that is signed and sent.
std::string canonical_query(const UriQuery& query);

// A request as it is sent, without its Authorization header.
struct UnsignedRequest {
  std::string method;  // "GET"
  std::string path;    // encoded, starting with a slash
  std::string query;   // from canonical_query()
  // The signed headers, with lower-case names. Must include host, x-amz-date ("20130524T000000Z")
  // and x-amz-content-sha256 (hash of the body, hex).
  std::map<std::string, std::string> headers;
};

// The value of the Authorization header.
std::string authorization(const UnsignedRequest& request, const AwsCredentials& credentials,
                          std::string_view region, std::string_view service = "s3");

}  // namespace hum
