// Takes a request's body as it arrives: into memory, or part by part of a multipart body into text
// and spooled files. Knows the route's limits; has no sockets.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http/http.h"
#include "serve/http/request_parser.h"

namespace hum::serve {

class BodyReader {
 public:
  // spool_folder: for files; those of a request that fails are removed.
  BodyReader(const RouteLimits& limits, std::filesystem::path spool_folder);
  ~BodyReader();
  BodyReader(const BodyReader&) = delete;
  BodyReader& operator=(const BodyReader&) = delete;

  // Looks at the head: 415 if the route does not take this type of body, 413 if the body is too
  // large by its own word, 400 if the boundary is missing.
  std::optional<Refusal> begin(const RequestHead& head);
  // May write to disk. 413, 400, 422, 507. Call it not again after a refusal.
  std::optional<Refusal> feed(std::string_view bytes);
  // Moves the body or the parts to the request.
  std::optional<Refusal> finish(Request& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::serve
