// Prepares responses on the pool: opens files, selects their bytes, answers conditions.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "serve/http/conditions.h"
#include "serve/http/server_impl.h"

namespace hum::serve {
namespace {

// Of a file that has no ETag: the same as long as nobody writes to it.
std::string etag_of(const struct stat& file) {
  return fmt::format("\"{:x}-{:x}-{:x}-{:x}\"", file.st_ino, file.st_size, file.st_mtim.tv_sec,
                     file.st_mtim.tv_nsec);
}

Outcome prepare_file(const Request& request, Response response) {
  const FileBody body = std::get<FileBody>(response.body);
  auto file = SentFile::open(body.path);
  struct stat status {};
  if (!file || fstat(file->number(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {.response = problem(404, "the file no longer exists")};
  }
  const std::string etag = body.etag.empty() ? etag_of(status) : body.etag;
  const std::string modified = http_date(status.st_mtim.tv_sec);
  const Selection selection = select_bytes(request, status.st_size, etag, modified);
  const auto content_range = [&](const std::string& range) {
    return fmt::format("bytes {}/{}", range, status.st_size);
  };
  if (selection.status == 416 || selection.status == 412) {
    Response refusal =
        problem(selection.status, selection.status == 416 ? "the file has no such bytes"
                                                          : "the file is not the expected one");
    if (selection.status == 416) refusal.headers.set("Content-Range", content_range("*"));
    return {.response = std::move(refusal)};
  }
  response.status = selection.status;
  response.headers.set("ETag", etag);
  response.headers.set("Last-Modified", modified);
  response.headers.set("Accept-Ranges", "bytes");
  if (!response.headers.contains("cache-control")) {
    response.headers.set("Cache-Control", "private, no-cache");
  }
  if (selection.status == 206) {
    response.headers.set("Content-Range",
                         content_range(fmt::format("{}-{}", selection.first,
                                                   selection.first + selection.bytes - 1)));
  }
  return {.response = std::move(response),
          .file = std::move(file),
          .first = selection.first,
          .bytes = selection.bytes};
}

}  // namespace

SentFile::~SentFile() { ::close(number_); }

std::shared_ptr<SentFile> SentFile::open(const std::filesystem::path& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return number < 0 ? nullptr : std::make_shared<SentFile>(number);
}

bool SentFile::read(int64_t offset, int64_t bytes, std::string& piece) const {
  const size_t before = piece.size();
  piece.resize(before + static_cast<size_t>(bytes));
  size_t filled = before;
  while (filled < piece.size()) {
    const ssize_t count = pread(number_, piece.data() + filled, piece.size() - filled,
                                offset + static_cast<int64_t>(filled - before));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    filled += static_cast<size_t>(count);
  }
  const bool whole = filled == piece.size();
  piece.resize(filled);
  return whole;
}

Outcome prepare(const Request& request, Response response) {
  if (std::holds_alternative<FileBody>(response.body)) {
    return prepare_file(request, std::move(response));
  }
  const auto etag = response.headers.find("etag");
  const auto known = request.headers.find("if-none-match");
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (etag && known && reads && response.status == 200 && names_etag(*known, *etag)) {
    response.status = 304;
    response.body = std::string();
  }
  return {.response = std::move(response)};
}

}  // namespace hum::serve
