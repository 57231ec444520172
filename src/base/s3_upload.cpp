// Uploads: in one request, or in parts that the server joins.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/s3_call_impl.h"

namespace hum {
namespace {

// Calls `abort` at its end, unless it was dismissed.
class Unfinished {
 public:
  explicit Unfinished(std::function<void()> abort) : abort_(std::move(abort)) {}
  ~Unfinished() {
    if (abort_) abort_();
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  void dismiss() { abort_ = {}; }

 private:
  std::function<void()> abort_;
};

}  // namespace

std::string s3_checksum(const std::string& hash) {
  std::string raw;
  for (size_t i = 0; i < hash.size(); i += 2) {
    raw += static_cast<char>(std::stoi(hash.substr(i, 2), nullptr, 16));
  }
  return base64(raw);
}

void S3Bucket::put(const std::string& key, std::string_view bytes, std::stop_token stop) const {
  upload(key, bytes, /*hash=*/"", /*only_new=*/false, stop);
}

void S3Bucket::put_file(const std::string& key, const std::filesystem::path& path,
                        std::stop_token stop) const {
  const MappedFile file(path);
  upload(key, file.bytes(), /*hash=*/"", /*only_new=*/false, stop);
}

bool S3Bucket::put_new(const std::string& key, std::string_view bytes, const std::string& hash,
                       std::stop_token stop) const {
  return upload(key, bytes, hash, /*only_new=*/true, stop);
}

bool S3Bucket::upload(const std::string& key, std::string_view bytes, const std::string& hash,
                      bool only_new, const std::stop_token& stop) const {
  if (std::ssize(bytes) > options_.one_put_bytes) return upload_parts(key, bytes, only_new, stop);
  S3Call call{.method = "PUT",
              .key = key,
              .body = bytes,
              .body_hash = hash.empty() ? sha256(bytes) : hash,
              .only_new = only_new,
              .stop = stop};
  if (only_new) call.headers["x-amz-checksum-sha256"] = s3_checksum(call.body_hash);
  const HttpAnswer answer = send(call);
  if (answer.status == 404) fail_call(call, answer);
  return answer.status != 412;
}

bool S3Bucket::upload_parts(const std::string& key, std::string_view bytes, bool only_new,
                            const std::stop_token& stop) const {
  const std::string id = begin_parts(key, stop);
  // Parts of an upload that does not end are kept, and paid for.
  Unfinished unfinished([&] { abort_parts(key, id); });
  const std::string parts = send_parts(key, bytes, id, stop);
  const S3Call join{.method = "POST",
                    .key = key,
                    .query = {{"uploadId", id}},
                    .body = parts,
                    .only_new = only_new,
                    .stop = stop};
  const HttpAnswer answer = send(join);
  if (answer.status == 412) return false;
  // The upload is also gone if an earlier attempt joined the parts and its response was lost.
  if (answer.status == 404 && !holds(key, bytes, /*hash=*/"", stop)) fail_call(join, answer);
  unfinished.dismiss();
  return true;
}

std::string S3Bucket::begin_parts(const std::string& key, const std::stop_token& stop) const {
  const S3Call begin{.method = "POST", .key = key, .query = {{"uploads", ""}}, .stop = stop};
  const HttpAnswer answer = send(begin);
  std::string id = xml_text(answer.body, "UploadId");
  if (id.empty()) fail_call(begin, answer);
  return id;
}

std::string S3Bucket::send_parts(const std::string& key, std::string_view bytes,
                                 const std::string& id, const std::stop_token& stop) const {
  std::string list = "<CompleteMultipartUpload>";
  const auto part_bytes = static_cast<size_t>(options_.part_bytes);
  for (size_t at = 0, number = 1; at < bytes.size(); at += part_bytes, ++number) {
    const S3Call part{.method = "PUT",
                      .key = key,
                      .query = {{"partNumber", std::to_string(number)}, {"uploadId", id}},
                      .body = bytes.substr(at, part_bytes),
                      .stop = stop};
    const HttpAnswer answer = send(part);
    const auto tag = answer.headers.find("etag");
    if (answer.status == 404 || tag == answer.headers.end()) fail_call(part, answer);
    list +=
        fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", number, tag->second);
  }
  return list + "</CompleteMultipartUpload>";
}

void S3Bucket::abort_parts(const std::string& key, const std::string& id) const noexcept {
  try {
    send({.method = "DELETE", .key = key, .query = {{"uploadId", id}}, .only_once = true});
  } catch (const std::exception& error) {
    spdlog::warn("the parts of an unfinished upload stay in the bucket: {}", error.what());
  }
}

}  // namespace hum
