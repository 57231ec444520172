// For tests only: the stored basic-pitch output for vocadito_10.wav (tests/data/basic-pitch).
#pragma once

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/json.h"
#include "models/basic_pitch/posteriors.h"

namespace hum::models::basic_pitch::test {

inline std::filesystem::path data_folder() { return source_folder() / "tests/data/basic-pitch"; }

// A two-dimensional little-endian f32 array in C order, version 1.0 of the .npy format.
inline Matrix<float> read_npy(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  HUM_REQUIRE(bytes.size() > 10 && bytes.starts_with("\x93NUMPY"), "{} is not .npy", path.string());
  const size_t header_bytes =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, header_bytes);
  long rows = 0, columns = 0;
  HUM_REQUIRE(
      header.find("'<f4'") != std::string::npos &&
          header.find("'fortran_order': False") != std::string::npos &&
          std::sscanf(header.c_str() + header.find('('), "(%ld, %ld)", &rows, &columns) == 2,
      "{}: {}", path.string(), header);
  Matrix<float> matrix(rows, columns);
  const size_t size = matrix.values.size() * sizeof(float);
  HUM_REQUIRE(bytes.size() == 10 + header_bytes + size, "{} is truncated", path.string());
  std::memcpy(matrix.values.data(), bytes.data() + 10 + header_bytes, size);
  return matrix;
}

inline Posteriors stored_posteriors() {
  return {read_npy(data_folder() / "note.npy"), read_npy(data_folder() / "onset.npy"),
          read_npy(data_folder() / "contour.npy")};
}

// Rows [start_s, end_s, pitch, amplitude, [bends]], ordered by start.
inline Json stored_notes() {
  Json rows = Json::array();
  const Json stored = read_json(data_folder() / "notes.json");
  for (const auto& note : stored["notes"]) {
    rows.push_back({note["start"], note["end"], note["pitch"], note["amplitude"], note["bends"]});
  }
  return rows;
}

}  // namespace hum::models::basic_pitch::test
