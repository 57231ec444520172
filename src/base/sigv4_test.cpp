// The signer against requests that botocore signed (tools/golden/sigv4.py).
#include "base/sigv4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/folders.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/s3.h"

namespace hum {
namespace {

UnsignedRequest unsigned_request(const Json& sent, const S3Target& target) {
  UriQuery query;
  for (const auto& [name, value] : sent.at("query").items()) {
    query.emplace_back(name, value.get<std::string>());
  }
  UnsignedRequest request{
      .method = sent.at("method"), .path = target.path, .query = canonical_query(query)};
  request.headers["host"] = target.host;
  for (const auto& [name, value] : sent.at("headers").items()) request.headers[name] = value;
  return request;
}

TEST(SigV4, SignsWhatBotocoreSignsAsItDoes) {
  const Json golden = read_json(source_folder() / "tests/data/aws/sigv4.json");
  ASSERT_GT(golden.at("cases").size(), 100U);
  for (const Json& sent : golden.at("cases")) {
    const S3Options options{.region = sent.at("region"), .endpoint = sent.at("endpoint")};
    const S3Target target =
        s3_target(options, sent.at("bucket"), sent.at("key").get<std::string>());
    const auto url = sent.at("url").get<std::string>();
    EXPECT_EQ(fmt::format("{}://{}{}", target.scheme, target.host, target.path),
              url.substr(0, url.find('?')));
    const UnsignedRequest request = unsigned_request(sent, target);
    EXPECT_EQ(request.headers.at("x-amz-date"), golden.at("time"));
    EXPECT_EQ(request.headers.at("x-amz-content-sha256"),
              sha256(sent.at("body").get<std::string>()));
    const AwsCredentials credentials{golden.at("access_key_id"), golden.at("secret_access_key")};
    EXPECT_EQ(authorization(request, credentials, options.region), sent.at("authorization")) << url;
  }
}

TEST(SigV4, DecodesWhatItEncodes) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  EXPECT_EQ(uri_decode(uri_encode(every)), every);
  EXPECT_EQ(uri_decode("a+b%2Bc%zz%4"), "a b+c%zz%4");
}

}  // namespace
}  // namespace hum
