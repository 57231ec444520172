#include "serve/http/body_reader.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/names.h"
#include "base/open_file.h"
#include "base/text.h"
#include "serve/http/multipart.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxParts = 32;

// Writes a new file, and hashes what it writes.
class SpoolWriter {
 public:
  explicit SpoolWriter(const fs::path& folder) {
    NewFile made = create_unique(folder, "upload-");
    if (made.file.is_open()) file_ = SpooledFile(made.path);
    open_ = std::move(made.file);
  }

  bool is_open() const { return open_.is_open(); }
  // False, with errno, if the disk is full or fails.
  bool write(std::string_view bytes) {
    hash_.add(bytes);
    while (!bytes.empty()) {
      const ssize_t written = ::write(open_.descriptor(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }
  void finish(Part& part) {
    part.sha256 = hash_.hex();
    part.file = std::move(file_);
  }

 private:
  OpenFile open_;
  SpooledFile file_;
  Sha256 hash_;
};

Refusal too_large(std::string_view what, int64_t limit) {
  return {413, fmt::format("{} is larger than {}", what, format_bytes(limit))};
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Whether the route takes a body with this Content-Type.
bool takes(const RouteLimits& limits, std::string_view type) {
  return limits.media_types.empty() ||
         contains(limits.media_types, lower_case(trimmed(type.substr(0, type.find(';')))));
}

// Refuses a part whose name the route does not know.
std::optional<Refusal> check_name(const RouteLimits& limits, const std::string& name) {
  if (!limits.text_parts) return std::nullopt;
  std::vector<std::string> known = limits.file_parts;
  known.insert(known.end(), limits.text_parts->begin(), limits.text_parts->end());
  if (contains(known, name)) return std::nullopt;
  const auto likely = likely_name(name, known);
  return Refusal{
      422, fmt::format("there is no part '{}'; the parts are {}", name, fmt::join(known, ", ")),
      likely ? fmt::format("did you mean '{}'? {}", *likely, limits.hint) : limits.hint};
}

}  // namespace

struct BodyReader::Impl {
  RouteLimits limits;
  fs::path spool_folder;
  std::string text;  // a body that is no form
  int64_t received_bytes = 0, text_bytes = 0;
  std::optional<MultipartParser> parser;
  std::vector<Part> parts;
  std::optional<SpoolWriter> spool;  // of the last part, while it is a file
  std::optional<Refusal> refusal;

  void begin_part(const PartHead& head);
  void add_content(std::string_view bytes);
  void end_part();
  void refuse_write();
};

void BodyReader::Impl::begin_part(const PartHead& head) {
  if (refusal) return;
  if (parts.size() == kMaxParts) {
    refusal = Refusal{413, fmt::format("the form has more than {} parts", kMaxParts)};
    return;
  }
  if (std::ranges::find(parts, head.name, &Part::name) != parts.end()) {
    refusal = Refusal{400, "the part '" + head.name + "' occurs twice"};
    return;
  }
  refusal = check_name(limits, head.name);
  if (refusal) return;
  Part part;
  part.name = head.name;
  part.file_name = head.file_name;
  part.content_type = head.content_type;
  parts.push_back(std::move(part));
  if (!contains(limits.file_parts, head.name)) return;
  spool.emplace(spool_folder);
  if (!spool->is_open()) refuse_write();
}

void BodyReader::Impl::add_content(std::string_view bytes) {
  if (refusal) return;
  Part& part = parts.back();
  part.size_bytes += static_cast<int64_t>(bytes.size());
  if (spool) {
    if (part.size_bytes > limits.file_bytes) {
      refusal = too_large("the part '" + part.name + "'", limits.file_bytes);
      return;
    }
    if (!spool->write(bytes)) refuse_write();
    return;
  }
  text_bytes += static_cast<int64_t>(bytes.size());
  if (text_bytes > limits.body_bytes) {
    refusal = too_large("the text of the form's parts", limits.body_bytes);
    return;
  }
  part.text += bytes;
}

void BodyReader::Impl::end_part() {
  if (refusal || !spool) return;
  spool->finish(parts.back());
  spool.reset();
}

void BodyReader::Impl::refuse_write() {
  const int error = errno;
  spdlog::error("an upload cannot be stored: {}", std::strerror(error));
  refusal = error == ENOSPC || error == EDQUOT || error == EFBIG
                ? Refusal{507, "the server has no room for the upload; try again later"}
                : Refusal{500, "the server cannot store the upload"};
}

BodyReader::BodyReader(const RouteLimits& limits, fs::path spool_folder)
    : impl_(std::make_unique<Impl>()) {
  impl_->limits = limits;
  impl_->spool_folder = std::move(spool_folder);
}
BodyReader::~BodyReader() = default;

std::optional<Refusal> BodyReader::begin(const RequestHead& head) {
  const std::string_view type = head.headers.get("content-type");
  const bool is_form = head.has_body && lower_case(trimmed(type)).starts_with("multipart/");
  if (is_form && impl_->limits.form_bytes == 0) {
    return Refusal{415, "this address takes no multipart body"};
  }
  if (head.has_body && !takes(impl_->limits, type)) {
    return Refusal{415,
                   fmt::format("the body is not {}", fmt::join(impl_->limits.media_types, " or ")),
                   impl_->limits.hint};
  }
  const int64_t limit = is_form ? impl_->limits.form_bytes : impl_->limits.body_bytes;
  if (head.content_length.value_or(0) > limit) return too_large("the body", limit);
  if (!is_form) return std::nullopt;
  const auto boundary = multipart_boundary(type);
  if (!boundary) return Refusal{400, "Content-Type is not multipart/form-data with a boundary"};
  Impl* impl = impl_.get();
  impl_->parser.emplace(
      *boundary,
      MultipartParser::Sink{.begin = [impl](const PartHead& part) { impl->begin_part(part); },
                            .content = [impl](std::string_view bytes) { impl->add_content(bytes); },
                            .end = [impl] { impl->end_part(); }});
  return std::nullopt;
}

std::optional<Refusal> BodyReader::feed(std::string_view bytes) {
  Impl& impl = *impl_;
  impl.received_bytes += static_cast<int64_t>(bytes.size());
  const int64_t limit = impl.parser ? impl.limits.form_bytes : impl.limits.body_bytes;
  if (impl.received_bytes > limit) return too_large("the body", limit);
  if (!impl.parser) {
    impl.text += bytes;
    return std::nullopt;
  }
  const bool valid = impl.parser->feed(bytes);
  if (impl.refusal) return impl.refusal;
  if (!valid) return Refusal{400, impl.parser->error()};
  return std::nullopt;
}

std::optional<Refusal> BodyReader::finish(Request& request) {
  if (!impl_->parser) {
    request.body = std::move(impl_->text);
    return std::nullopt;
  }
  if (!impl_->parser->finish()) return Refusal{400, impl_->parser->error()};
  request.parts = std::move(impl_->parts);
  return std::nullopt;
}

}  // namespace hum::serve
