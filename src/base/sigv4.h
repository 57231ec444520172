// AWS Signature Version 4: the Authorization header of a request. Nothing is sent here.
// Source: AWS General Reference, "Create a signed AWS API request"; checked against botocore.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hum {

struct AwsCredentials {
  std::string access_key_id, secret_access_key;
  std::string session_token;  // empty: none
};

// All bytes but A-Z a-z 0-9 - _ . ~ (and slashes, when kept) become %XX.
std::string uri_encode(std::string_view text, bool keep_slashes = false);
// What it undoes; a plus is a space, as in what S3 lists with encoding-type=url.
std::string uri_decode(std::string_view text);

using UriQuery = std::vector<std::pair<std::string, std::string>>;
// "a=1&b=x%20y": encoded, then sorted. Both what is signed and what is sent.
std::string canonical_query(const UriQuery& query);

// A request as it is sent, but for its Authorization.
struct UnsignedRequest {
  std::string method;  // "GET"
  std::string path;    // encoded, starting with a slash
  std::string query;   // from canonical_query()
  // Those that are signed: lower-case names; host, x-amz-date ("20130524T000000Z") and
  // x-amz-content-sha256 (of the body, hex) must be among them.
  std::map<std::string, std::string> headers;
};

// The value of the Authorization header.
std::string authorization(const UnsignedRequest& request, const AwsCredentials& credentials,
                          std::string_view region, std::string_view service = "s3");

}  // namespace hum
