// audio::SourceFormat as JSON, for the record of an upload.
#pragma once

#include "audio/io.h"
#include "base/json.h"

namespace hum::serve {

inline Json to_json(const audio::SourceFormat& format) {
  return {{"rate_hz", format.rate_hz},
          {"channels", format.channels},
          {"clipped_fraction", format.clipped_fraction},
          {"only_channel", format.only_channel ? Json(*format.only_channel) : Json()}};
}

inline audio::SourceFormat source_format_of(const Json& json) {
  audio::SourceFormat format{json.at("rate_hz"), json.at("channels"), json.at("clipped_fraction"),
                             std::nullopt};
  if (!json.at("only_channel").is_null()) format.only_channel = json.at("only_channel").get<int>();
  return format;
}

}  // namespace hum::serve
