// One call to S3: what s3.cpp and s3_upload.cpp send, and s3_call.cpp signs and repeats.
#pragma once

#include <map>

#include "base/http.h"
#include "base/s3.h"

namespace hum {

struct S3Call {
  std::string method;
  std::string key = {};
  UriQuery query = {};
  std::string_view body = {};
  std::string body_hash = {};                       // its SHA-256; empty: not known yet
  std::map<std::string, std::string> headers = {};  // to be signed; lower-case names
  bool only_new = false;                            // fails if the object exists
  bool only_once = false;                           // whatever the options say
  // Receives the body of a response. Created anew for each attempt.
  std::function<std::function<void(std::string_view)>()> new_sink = {};
  std::stop_token stop = {};
};

// The text of the first <tag> at or after `from`; empty if there is none.
std::string xml_text(std::string_view xml, std::string_view tag, size_t from = 0);
// A SHA-256 in hex as S3 writes it in x-amz-checksum-sha256.
std::string s3_checksum(const std::string& hash);

}  // namespace hum
