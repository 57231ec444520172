// Which part of a file a request gets: If-Match, If-None-Match, If-Modified-Since, Range, If-Range
// (RFC 9110, sections 13 and 14). Pure functions.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "serve/http/http.h"

namespace hum::serve {

// "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(std::time_t time);

// If an If-None-Match of "*", "\"a\"" or `W/"a", "b"` names the ETag (weak comparison).
bool names_etag(std::string_view field, std::string_view etag);

struct Selection {
  int status = 200;   // 200, 206, 304, 412, 416
  int64_t first = 0;  // of 200 and 206
  int64_t bytes = 0;
};

// Dates are compared for equality with `last_modified` only. Several ranges, other units and
// malformed ones get the whole file.
Selection select_bytes(const Request& request, int64_t size_bytes, std::string_view etag,
                       std::string_view last_modified);

}  // namespace hum::serve
