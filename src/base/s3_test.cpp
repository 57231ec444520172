// Tests the S3 client against a server that fails as told, in this process. s3_servers_test.cpp has
// other servers.
#include "base/s3.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/hash.h"
#include "base/testing/s3_server.h"

namespace hum {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::S3Server;

std::string every_byte(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  return bytes;
}

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {ExitCode::kOk, "nothing was thrown", ""};
}

class S3Test : public ::testing::Test {
 protected:
  S3Test() : folder_(fs::temp_directory_path() / fmt::format("hum-s3-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~S3Test() override { fs::remove_all(folder_); }
  S3Bucket bucket() const { return {server_.options(), "hum-test"}; }

  S3Server server_;
  fs::path folder_;
};

TEST_F(S3Test, KeysGoOverTheWireEncodedOnce) {
  bucket().put("a=b/../c+d e", "x");
  EXPECT_THAT(server_.requests(), ElementsAre("PUT /hum-test/a%3Db/../c%2Bd%20e"));
}

TEST_F(S3Test, FilesAppearWholeOrNotAtAll) {
  const std::string large = every_byte(2'000'000);
  server_.set_object("large", large);
  EXPECT_TRUE(bucket().get_to_file("large", folder_ / "whole"));
  EXPECT_TRUE(read_file(folder_ / "whole") == large);
  EXPECT_FALSE(bucket().get_to_file("missing", folder_ / "missing"));
  server_.fail_next(1, {.truncate = true});
  EXPECT_TRUE(bucket().get_to_file("large", folder_ / "second try"));
  EXPECT_TRUE(read_file(folder_ / "second try") == large);
  server_.fail_next(100, {.truncate = true});
  EXPECT_EQ(error_of([&] { bucket().get_to_file("large", folder_ / "broken"); }).code(),
            ExitCode::kTemporary);
  std::vector<std::string> names;
  for (const auto& item : fs::directory_iterator(folder_)) names.push_back(item.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("whole", "second try"));
}

TEST_F(S3Test, WhatMayPassIsTriedAgain) {
  S3Options options = server_.options();
  int repeated = 0;
  options.repeating = [&] { ++repeated; };
  const S3Bucket patient(options, "hum-test");
  for (const S3Server::Fault& fault :
       std::initializer_list<S3Server::Fault>{{.status = 500, .code = "InternalError"},
                                              {.status = 503, .code = "SlowDown"},
                                              {.status = 429},
                                              {.status = 400, .code = "RequestTimeout"},
                                              {.hang_up = true}}) {
    server_.fail_next(2, fault);
    patient.put("key", "value");
    server_.fail_next(2, fault);
    EXPECT_EQ(patient.get("key"), "value");
  }
  EXPECT_EQ(server_.requests().size(), 5U * 2 * 3);
  EXPECT_EQ(repeated, 5 * 2 * 2);
}

TEST_F(S3Test, WhatWillNotPassIsTriedOnce) {
  server_.fail_next(1, {.status = 403, .code = "AccessDenied"});
  EXPECT_EQ(error_of([&] { bucket().get("key"); }).code(), ExitCode::kNoPermission);
  EXPECT_EQ(server_.requests().size(), 1U);
}

TEST_F(S3Test, PausesGrowBetweenAttempts) {
  auto options = server_.options();
  options.attempts = 4;
  options.first_pause = std::chrono::milliseconds(60);
  server_.fail_next(100, {.status = 500});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(S3Bucket(options, "hum-test").get("key"), Error);
  const auto spent = std::chrono::steady_clock::now() - start;
  EXPECT_GE(spent, std::chrono::milliseconds((60 + 120 + 240) / 2));
  EXPECT_EQ(server_.requests().size(), 4U);
}

TEST_F(S3Test, RefusalsSayWhatToDo) {
  const auto hint = [&](S3Server::Fault fault) {
    server_.fail_next(1, std::move(fault));
    return error_of([&] { bucket().get("key"); }).hint();
  };
  EXPECT_THAT(hint({.status = 403, .code = "InvalidAccessKeyId"}), HasSubstr("AWS_ACCESS_KEY_ID"));
  EXPECT_THAT(hint({.status = 400, .code = "ExpiredToken"}), HasSubstr("AWS_SESSION_TOKEN"));
  EXPECT_THAT(hint({.status = 403, .code = "RequestTimeTooSkewed"}), HasSubstr("clock"));
  EXPECT_THAT(hint({.status = 301, .headers = {{"x-amz-bucket-region", "sa-east-1"}}}),
              HasSubstr("AWS_REGION=sa-east-1"));
  auto options = server_.options();
  options.credentials.secret_access_key = "wrong";
  const Error wrong = error_of([&] { S3Bucket(options, "hum-test").put("key", "value"); });
  EXPECT_EQ(wrong.code(), ExitCode::kNoPermission);
  EXPECT_THAT(wrong.message(), HasSubstr("PUT s3://hum-test/key: HTTP 403, SignatureDoesNotMatch"));
  EXPECT_THAT(wrong.hint(), HasSubstr("AWS_SECRET_ACCESS_KEY"));
  EXPECT_THAT(std::string(wrong.what()), ::testing::Not(HasSubstr("hum/test+secret")));
}

TEST_F(S3Test, BucketThatIsNotThereIsNoEmptyBucket) {
  const S3Bucket other(server_.options(), "other");
  for (const Error& error :
       {error_of([&] { other.get("key"); }), error_of([&] { other.put("key", "value"); }),
        error_of([&] { other.list(""); })}) {
    EXPECT_EQ(error.code(), ExitCode::kConfig);
    EXPECT_THAT(error.hint(), HasSubstr("create the bucket"));
  }
}

TEST_F(S3Test, ServerThatIsNotThereIsSaidSo) {
  auto options = server_.options();
  options.endpoint = "http://127.0.0.1:1";
  const Error error = error_of([&] { S3Bucket(options, "hum-test").get("key"); });
  EXPECT_EQ(error.code(), ExitCode::kTemporary);
  EXPECT_THAT(error.hint(), HasSubstr("AWS_ENDPOINT_URL_S3"));
}

TEST_F(S3Test, SlowTransfersEnd) {
  auto options = server_.options();
  options.transfer_timeout = std::chrono::milliseconds(50);
  options.attempts = 1;
  server_.fail_next(1, {.delay = std::chrono::milliseconds(300)});
  EXPECT_EQ(error_of([&] { S3Bucket(options, "hum-test").get("key"); }).code(),
            ExitCode::kTemporary);
}

TEST_F(S3Test, StopEndsATransferAndItsPauses) {
  auto options = server_.options();
  options.attempts = 10;
  options.first_pause = std::chrono::seconds(20);
  server_.fail_next(100, {.status = 503});
  std::stop_source source;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(S3Bucket(options, "hum-test").put("key", "value", source.get_token()), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  stopper.join();
}

TEST_F(S3Test, CreationsOutlastConflictsAndLostResponses) {
  server_.fail_next(2, {.status = 409, .code = "ConditionalRequestConflict"});
  EXPECT_TRUE(bucket().put_new("other", "x"));
  server_.fail_next(1, {.lost = true});
  EXPECT_FALSE(bucket().put_new("third", "x"));
  EXPECT_TRUE(bucket().holds("third", "x"));
}

TEST_F(S3Test, ComparesByChecksumOrDownload) {
  const std::string bytes = every_byte(300'000);
  bucket().put_new("new", bytes);
  EXPECT_TRUE(bucket().holds("new", bytes));
  EXPECT_THAT(server_.requests(), ElementsAre("PUT /hum-test/new", "HEAD /hum-test/new"));
  std::string other = bytes;
  other[200'000] = 'x';
  EXPECT_FALSE(bucket().holds("new", other));
  EXPECT_FALSE(bucket().holds("new", bytes + "x"));
  EXPECT_FALSE(bucket().holds("missing", ""));
  server_.set_object("plain", bytes);
  EXPECT_TRUE(bucket().holds("plain", bytes));
  EXPECT_FALSE(bucket().holds("plain", other));
  server_.fail_next(1, {.truncate = true, .after = 1});
  EXPECT_TRUE(bucket().holds("plain", bytes));
}

// Bytes that have changed since they were hashed are not stored.
TEST_F(S3Test, HashThatIsKnownIsCheckedByTheServer) {
  const std::string bytes = every_byte(300'000), hash = sha256(bytes);
  std::string other = bytes;
  other[200'000] = 'x';
  EXPECT_EQ(error_of([&] { bucket().put_new("new", other, hash); }).code(),
            ExitCode::kNoPermission);
  EXPECT_THAT(server_.objects(), IsEmpty());
  EXPECT_TRUE(bucket().put_new("new", bytes, hash));
  EXPECT_TRUE(bucket().holds("new", bytes, hash));
  EXPECT_FALSE(bucket().holds("new", other, sha256(other)));
}

class S3Parts : public S3Test {
 protected:
  S3Bucket bucket() const {
    S3Options options = server_.options();
    options.one_put_bytes = 100'000;
    options.part_bytes = 30'000;
    return {options, "hum-test"};
  }
  const std::string large_ = every_byte(100'001);  // four parts
};

TEST_F(S3Parts, LargeObjectsAreSentInParts) {
  bucket().put("limit", every_byte(100'000));
  EXPECT_EQ(server_.requests().size(), 1U);
  bucket().put("large", large_);
  EXPECT_EQ(server_.requests().size(), 1U + 1 + 4 + 1);
  EXPECT_TRUE(bucket().get("large") == large_);
  EXPECT_FALSE(bucket().put_new("large", every_byte(200'000)));
  EXPECT_TRUE(bucket().holds("large", large_));
  EXPECT_TRUE(bucket().put_new("new", large_));
  write_file(folder_ / "file", large_);
  bucket().put_file("of a file", folder_ / "file");
  EXPECT_TRUE(bucket().get("of a file") == large_);
  EXPECT_EQ(server_.unfinished_uploads(), 0U);
}

TEST_F(S3Parts, PartsAreTriedAgainOneByOne) {
  server_.fail_next(2, {.status = 503, .after = 2});
  bucket().put("large", large_);
  EXPECT_EQ(server_.requests().size(), 1U + 4 + 2 + 1);
  EXPECT_TRUE(bucket().get("large") == large_);
}

TEST_F(S3Parts, ResponseToTheJoiningMayGetLost) {
  server_.fail_next(1, {.after = 5, .lost = true});
  bucket().put("large", large_);
  EXPECT_TRUE(bucket().get("large") == large_);
  // Or it says 200 before it fails.
  server_.fail_next(1, {.status = 200, .code = "InternalError", .after = 5});
  bucket().put("second", large_);
  EXPECT_TRUE(bucket().get("second") == large_);
  EXPECT_EQ(server_.unfinished_uploads(), 0U);
}

TEST_F(S3Parts, FailedUploadLeavesNoParts) {
  server_.fail_next(1, {.status = 403, .code = "AccessDenied", .after = 3});
  EXPECT_EQ(error_of([&] { bucket().put("large", large_); }).code(), ExitCode::kNoPermission);
  EXPECT_THAT(server_.objects(), IsEmpty());
  EXPECT_EQ(server_.unfinished_uploads(), 0U);
}

TEST_F(S3Test, PatienceOutlastsAttempts) {
  S3Options options = server_.options();
  options.attempts = 1;
  options.patience = std::chrono::minutes(1);
  options.longest_pause = std::chrono::milliseconds(20);
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::steady_clock::now() - start; };
  server_.fail_next(12, {.hang_up = true});
  S3Bucket(options, "hum-test").put("key", "value");
  EXPECT_EQ(server_.requests().size(), 13U);
  EXPECT_LT(spent(), std::chrono::seconds(10));  // 20 s if the pauses kept growing
  options.patience = std::chrono::milliseconds(300);
  const auto second_start = spent();
  server_.fail_next(100'000, {.status = 503});
  EXPECT_EQ(error_of([&] { S3Bucket(options, "hum-test").get("key"); }).code(),
            ExitCode::kTemporary);
  EXPECT_GE(spent() - second_start, options.patience);
}

TEST_F(S3Test, ExpiredCredentialsAreReadAnewOnce) {
  S3Options options = server_.options();
  int reads = 0;
  options.read_credentials = [&reads, valid = options.credentials] {
    ++reads;
    return valid;
  };
  options.credentials.session_token = "of yesterday";
  const S3Bucket bucket(options, "hum-test");
  server_.fail_next(1, {.status = 400, .code = "ExpiredToken"});
  bucket.put("key", "value");
  EXPECT_EQ(reads, 1);
  server_.fail_next(1, {.status = 400, .code = "ExpiredTokenException"});
  const Error error = error_of([&] { bucket.get("key"); });  // nobody has renewed them
  EXPECT_EQ(error.code(), ExitCode::kNoPermission);
  EXPECT_THAT(error.hint(), HasSubstr("~/.aws/credentials"));
  EXPECT_EQ(reads, 2);
  // The response to a HEAD has no code.
  const S3Bucket other(options, "hum-test");
  server_.fail_next(1, {.status = 400});
  EXPECT_EQ(other.head("key"), 5);
}

TEST_F(S3Test, CredentialsComeFromTheSharedFile) {
  write_file(folder_ / "credentials",
             "[default]\naws_access_key_id = a\naws_secret_access_key=b\n"
             "# of a role\n[role]\naws_access_key_id=c\r\naws_secret_access_key = d=e\n"
             "aws_session_token = f");
  ::setenv("AWS_SHARED_CREDENTIALS_FILE", (folder_ / "credentials").c_str(), 1);
  EXPECT_EQ(read_aws_credentials(), (AwsCredentials{"a", "b", ""}));
  ::setenv("AWS_PROFILE", "role", 1);
  EXPECT_EQ(read_aws_credentials(), (AwsCredentials{"c", "d=e", "f"}));
  ::setenv("AWS_PROFILE", "nobody", 1);
  EXPECT_THAT(error_of([] { read_aws_credentials(); }).hint(), HasSubstr("[nobody]"));
  ::setenv("AWS_ACCESS_KEY_ID", "half", 1);
  ::setenv("AWS_PROFILE", "role", 1);
  EXPECT_EQ(error_of([] { read_aws_credentials(); }).code(), ExitCode::kConfig);
  for (const char* name : {"AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"}) {
    ::unsetenv(name);
  }
}

TEST(S3Place, IsABucketAndAPrefix) {
  const S3Place place = parse_s3_url("s3://bucket/a/b=c/");
  EXPECT_EQ(place.bucket, "bucket");
  EXPECT_EQ(place.prefix, "a/b=c");
  EXPECT_EQ(parse_s3_url("s3://bucket").prefix, "");
  EXPECT_THROW(parse_s3_url("s3:///a"), Error);
  EXPECT_FALSE(is_s3_url("/mnt/s3://"));
}

TEST(S3Options, ComeFromTheEnvironment) {
  ::setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere", 1);
  const Error none = error_of([] { s3_options_from_environment(); });
  EXPECT_EQ(none.code(), ExitCode::kConfig);
  EXPECT_THAT(none.hint(), HasSubstr("AWS_ACCESS_KEY_ID"));
  const std::pair<const char*, const char*> variables[] = {{"AWS_ACCESS_KEY_ID", "id"},
                                                           {"AWS_SECRET_ACCESS_KEY", "secret"},
                                                           {"AWS_DEFAULT_REGION", "eu-west-3"},
                                                           {"AWS_ENDPOINT_URL", "http://host:1"}};
  for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  const S3Options options = s3_options_from_environment();
  ::setenv("AWS_ENDPOINT_URL_S3", "http://other:1/s3/", 1);
  const S3Options other = s3_options_from_environment();
  for (const auto& [name, value] : variables) ::unsetenv(name);
  ::unsetenv("AWS_ENDPOINT_URL_S3");
  ::unsetenv("AWS_SHARED_CREDENTIALS_FILE");
  EXPECT_EQ(options.region, "eu-west-3");
  EXPECT_EQ(s3_target(options, "b", "k").host, "host:1");
  EXPECT_EQ(s3_target(other, "b", "k").path, "/s3/b/k");
}

}  // namespace
}  // namespace hum
