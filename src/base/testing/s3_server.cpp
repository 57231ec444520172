#include "base/testing/s3_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/s3_call_impl.h"
#include "base/text.h"

namespace hum::testing {
namespace {

constexpr size_t kPageSize = 2;  // of a listing; small, so that tests see several pages

AwsCredentials credentials() { return {"hum-test-id", "hum/test+secret", "token/of=the+test"}; }

std::string error_xml(const std::string& code) {
  return fmt::format("<Error><Code>{}</Code><Message>as the test requests</Message></Error>", code);
}

void send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the client has disconnected
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

std::map<std::string, std::string> query_of(const std::string& text) {
  std::map<std::string, std::string> query;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('&', at), text.size());
    const std::string pair = text.substr(at, end - at);
    const size_t equals = std::min(pair.find('='), pair.size());
    query[pair.substr(0, equals)] = uri_decode(pair.substr(std::min(equals + 1, pair.size())));
    at = end + 1;
  }
  return query;
}

// As S3's, it depends on the bytes alone.
std::string entity_tag(std::string_view bytes) { return fmt::format("\"{}\"", sha256(bytes)); }

// Whether the client says that it has signed this header.
bool is_signed(const std::string& authorization, const std::string& name) {
  constexpr std::string_view kNames = "SignedHeaders=";
  const size_t begin = authorization.find(kNames) + kNames.size();
  const std::string names = authorization.substr(begin, authorization.find(',', begin) - begin);
  return fmt::format(";{};", names).find(fmt::format(";{};", name)) != std::string::npos;
}

// The entity tags that the request to join parts names, by number.
std::map<int, std::string> named_parts(const std::string& xml) {
  std::map<int, std::string> tags;
  for (size_t at = xml.find("<Part>"); at != xml.npos; at = xml.find("<Part>", at + 1)) {
    tags[std::stoi(xml_text(xml, "PartNumber", at))] = xml_text(xml, "ETag", at);
  }
  return tags;
}

}  // namespace

struct S3Server::Request {
  std::string method, path, query;  // as received
  std::map<std::string, std::string> headers;
  std::string body;
};

struct S3Server::Answer {
  int status = 200;
  std::string body = {};
  std::map<std::string, std::string> headers = {};
};

S3Server::S3Server(std::string bucket) : bucket_(std::move(bucket)) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  HUM_CHECK(socket_ >= 0 && ::bind(socket_, any, size) == 0 && ::listen(socket_, 64) == 0);
  HUM_CHECK(::getsockname(socket_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

S3Server::~S3Server() {
  ::shutdown(socket_, SHUT_RDWR);
  acceptor_.join();
  ::close(socket_);
  for (std::thread& connection : connections_) connection.join();
}

std::string S3Server::endpoint() const { return fmt::format("http://127.0.0.1:{}", port_); }

S3Options S3Server::options() const {
  return {.credentials = credentials(),
          .region = "eu-west-3",
          .endpoint = endpoint(),
          .attempts = 3,
          .first_pause = std::chrono::milliseconds(10)};
}

void S3Server::fail_next(int count, Fault fault) {
  const std::lock_guard lock(mutex_);
  faults_left_ = count;
  fault_ = std::move(fault);
}

std::map<std::string, std::string> S3Server::objects() const {
  const std::lock_guard lock(mutex_);
  return objects_;
}

void S3Server::set_object(const std::string& key, std::string bytes) {
  const std::lock_guard lock(mutex_);
  objects_[key] = std::move(bytes);
  checksums_.erase(key);
}

size_t S3Server::unfinished_uploads() const {
  const std::lock_guard lock(mutex_);
  return uploads_.size();
}

std::vector<std::string> S3Server::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void S3Server::accept_all() {
  for (;;) {
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const std::lock_guard lock(mutex_);
    connections_.emplace_back([this, connection] {
      serve(connection);
      ::close(connection);
    });
  }
}

S3Server::Request S3Server::parse_head(const std::string& head) {
  Request request;
  size_t at = head.find("\r\n");
  const std::string first = head.substr(0, at);
  const size_t space = first.find(' ');
  const std::string target = first.substr(space + 1, first.rfind(' ') - space - 1);
  const size_t question = std::min(target.find('?'), target.size());
  request.method = first.substr(0, space);
  request.path = target.substr(0, question);
  request.query = target.substr(std::min(question + 1, target.size()));
  while (at < head.size()) {
    const size_t next = std::min(head.find("\r\n", at + 2), head.size());
    const size_t colon = head.find(": ", at);
    request.headers[lower_case(head.substr(at + 2, colon - at - 2))] =
        head.substr(colon + 2, next - colon - 2);
    at = next;
  }
  return request;
}

std::optional<S3Server::Request> S3Server::receive(int connection) {
  std::string bytes;
  const auto read_more = [&] {
    char piece[65536];
    const ssize_t got = ::recv(connection, piece, sizeof(piece), 0);
    if (got > 0) bytes.append(piece, static_cast<size_t>(got));
    return got > 0;
  };
  while (bytes.find("\r\n\r\n") == bytes.npos) {
    if (!read_more()) return std::nullopt;
  }
  const size_t end = bytes.find("\r\n\r\n");
  Request request = parse_head(bytes.substr(0, end));
  if (request.headers.contains("expect")) send_all(connection, "HTTP/1.1 100 Continue\r\n\r\n");
  const auto length = request.headers.find("content-length");
  const size_t body_size = length == request.headers.end() ? 0 : std::stoul(length->second);
  while (bytes.size() < end + 4 + body_size) {
    if (!read_more()) return std::nullopt;
  }
  request.body = bytes.substr(end + 4);
  return request;
}

S3Server::Fault S3Server::note(const Request& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request.method + " " + request.path);
  if (faults_left_ == 0 || fault_.after-- > 0) return {};
  --faults_left_;
  return fault_;
}

void S3Server::serve(int connection) {
  const auto request = receive(connection);
  if (!request) return;
  const Fault fault = note(*request);
  std::this_thread::sleep_for(fault.delay);
  if (fault.hang_up) return;
  const Answer reply = fault.status == 0
                           ? answer(*request)
                           : Answer{fault.status, error_xml(fault.code), fault.headers};
  if (fault.lost) return;
  std::string text = fmt::format("HTTP/1.1 {} x\r\nConnection: close\r\nContent-Length: {}\r\n",
                                 reply.status, reply.body.size());
  for (const auto& [name, value] : reply.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += "\r\n";
  if (request->method != "HEAD") {
    text += reply.body.substr(0, reply.body.size() / (fault.truncate ? 2 : 1));
  }
  send_all(connection, text);
}

std::string S3Server::why_refused(const Request& request) const {
  const auto& headers = request.headers;
  for (const char* name : {"authorization", "x-amz-date", "x-amz-content-sha256", "host"}) {
    if (!headers.contains(name)) return "MissingHeader";
  }
  if (headers.at("x-amz-content-sha256") != sha256(request.body)) {
    return "XAmzContentSHA256Mismatch";
  }
  const std::string& allowed = headers.at("authorization");
  const auto query = query_of(request.query);
  UnsignedRequest parts{.method = request.method,
                        .path = request.path,
                        .query = canonical_query(UriQuery(query.begin(), query.end()))};
  for (const auto& [name, value] : headers) {
    const bool must_be = name == "host" || name == "if-none-match" || name.starts_with("x-amz-");
    if (must_be || is_signed(allowed, name)) parts.headers[name] = value;
  }
  const bool fits = allowed == authorization(parts, credentials(), "eu-west-3");
  return fits ? "" : "SignatureDoesNotMatch";
}

S3Server::Answer S3Server::answer(const Request& request) {
  if (const std::string code = why_refused(request); !code.empty()) return {403, error_xml(code)};
  const std::string bucket = "/" + bucket_;
  const std::lock_guard lock(mutex_);
  if (request.path == bucket) return list(request);
  if (!request.path.starts_with(bucket + "/")) return {404, error_xml("NoSuchBucket")};
  const std::string key = uri_decode(request.path.substr(bucket.size() + 1));
  if (!request.query.empty()) return answer_parts(request, key);
  if (request.method == "PUT") return put(request, key);
  if (request.method == "DELETE") {
    objects_.erase(key);
    return {.status = 204};
  }
  const auto found = objects_.find(key);
  if (found == objects_.end()) return {404, error_xml("NoSuchKey")};
  Answer reply{.body = found->second, .headers = {{"ETag", entity_tag(found->second)}}};
  if (request.headers.contains("x-amz-checksum-mode") && checksums_.contains(key)) {
    reply.headers["x-amz-checksum-sha256"] = checksums_.at(key);
  }
  return reply;
}

// The mutex must be held.
S3Server::Answer S3Server::put(const Request& request, const std::string& key) {
  if (request.headers.contains("if-none-match") && objects_.contains(key)) {
    return {412, error_xml("PreconditionFailed")};
  }
  checksums_.erase(key);
  if (const auto sent = request.headers.find("x-amz-checksum-sha256");
      sent != request.headers.end()) {
    if (sent->second != s3_checksum(sha256(request.body))) return {400, error_xml("BadDigest")};
    checksums_[key] = sent->second;
  }
  objects_[key] = request.body;
  return {};
}

// The mutex must be held.
S3Server::Answer S3Server::answer_parts(const Request& request, const std::string& key) {
  auto query = query_of(request.query);
  if (query.contains("uploads")) {
    const std::string id = fmt::format("upload/{}", ++upload_number_);
    uploads_[id];
    return {.body = fmt::format("<InitiateMultipartUploadResult><UploadId>{}</UploadId>"
                                "</InitiateMultipartUploadResult>",
                                id)};
  }
  const auto upload = uploads_.find(query["uploadId"]);
  if (upload == uploads_.end()) return {404, error_xml("NoSuchUpload")};
  if (request.method == "PUT") {
    const int number = std::stoi(query["partNumber"]);
    upload->second[number] = request.body;
    return {.headers = {{"ETag", entity_tag(request.body)}}};
  }
  if (request.method == "DELETE") {
    uploads_.erase(upload);
    return {.status = 204};
  }
  Request joined = request;
  joined.body.clear();
  auto named = named_parts(request.body);
  for (const auto& [number, bytes] : upload->second) {
    if (named[number] != entity_tag(bytes)) return {400, error_xml("InvalidPart")};
    joined.body += bytes;
  }
  if (const Answer refused = put(joined, key); refused.status != 200) return refused;
  uploads_.erase(upload);
  return {.body = fmt::format("<CompleteMultipartUploadResult><ETag>{}</ETag>"
                              "</CompleteMultipartUploadResult>",
                              entity_tag(joined.body))};
}

// The mutex must be held.
S3Server::Answer S3Server::list(const Request& request) const {
  auto query = query_of(request.query);
  const std::string after = uri_decode(query["continuation-token"]);
  std::string xml = "<ListBucketResult><EncodingType>url</EncodingType>";
  size_t listed = 0;
  for (const auto& [key, bytes] : objects_) {
    if (!key.starts_with(query["prefix"]) || key <= after) continue;
    if (listed == kPageSize) {
      xml += "<IsTruncated>true</IsTruncated>";
      break;
    }
    xml += fmt::format("<Contents><Key>{}</Key><Size>{}</Size></Contents>", uri_encode(key),
                       bytes.size());
    if (++listed == kPageSize && key != objects_.rbegin()->first) {
      xml += fmt::format("<NextContinuationToken>{}</NextContinuationToken>", uri_encode(key));
    }
  }
  return {.body = xml + "</ListBucketResult>"};
}

S3Variables::S3Variables(const S3Options& options)
    : variables_({{"AWS_ACCESS_KEY_ID", options.credentials.access_key_id},
                  {"AWS_SECRET_ACCESS_KEY", options.credentials.secret_access_key},
                  {"AWS_SESSION_TOKEN", options.credentials.session_token},
                  {"AWS_REGION", options.region},
                  {"AWS_ENDPOINT_URL_S3", options.endpoint}}) {
  for (const auto& [name, value] : variables_) {
    ::setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
}

S3Variables::~S3Variables() {
  for (const auto& [name, value] : variables_) ::unsetenv(name.c_str());
}

}  // namespace hum::testing
