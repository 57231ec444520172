#include "models/basic_pitch/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"

namespace hum::models::basic_pitch {
namespace {

using ::testing::HasSubstr;

std::filesystem::path scratch_file(const std::string& name, const std::string& bytes) {
  const auto path = std::filesystem::path(::testing::TempDir()) / name;
  // Not write_file: a scratch file need not reach the disk.
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

void expect_bad_data(const std::filesystem::path& path, const std::string& text) {
  try {
    read_weights(path);
    ADD_FAILURE() << "no error for " << path;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_THAT(error.message(), HasSubstr(text));
    EXPECT_THAT(error.hint(), HasSubstr("nmp.onnx"));
  }
}

TEST(BasicPitchWeights, HaveTheReleasedSizes) {
  const Weights weights = read_weights(default_weights_path());
  EXPECT_EQ(weights.cqt_real.size(), 36u * 256u);
  EXPECT_EQ(weights.cqt_imag.size(), 36u * 256u);
  EXPECT_EQ(weights.lowpass.size(), 256u);
  // The paper's 16,782 less the 80 batch-norm numbers that the file has folded into kernels and
  // biases.
  EXPECT_EQ(weights.parameter_count(), 16702);
}

TEST(BasicPitchWeights, HoldTheNumbersOfTheFile) {
  const Weights weights = read_weights(default_weights_path());
  EXPECT_FLOAT_EQ(weights.input_scale, 2.480741F);
  EXPECT_FLOAT_EQ(weights.input_offset, -0.8769183F);
  EXPECT_FLOAT_EQ(weights.contour.bias[0], -0.3945435F);
  EXPECT_FLOAT_EQ(weights.note.bias[0], -0.6187599F);
  EXPECT_FLOAT_EQ(weights.onset.bias[0], -0.36014846F);
  EXPECT_FLOAT_EQ(weights.contour_hidden.at(0, 0, 0, 0), 0.02223546F);
  EXPECT_FLOAT_EQ(weights.onset_hidden.bias[0], -0.5544527F);
  // Kernel lengths are ceil(Q * rate / frequency), Q = 1 / (2^(1/36) - 1).
  const double q = 1.0 / (std::exp2(1.0 / 36.0) - 1.0);
  EXPECT_NEAR(weights.cqt_scale.front(), std::sqrt(std::ceil(q * 22050.0 / 27.5)), 1e-4);
}

TEST(BasicPitchWeights, TellRealFromImaginaryKernels) {
  // A kernel is even around its centre (cosine) or odd around it (sine).
  const Weights weights = read_weights(default_weights_path());
  double cosine = 0;
  double sine = 0;
  for (int64_t k = 1; k < 100; ++k) {
    cosine += std::abs(weights.cqt_real[static_cast<size_t>(128 + k)] -
                       weights.cqt_real[static_cast<size_t>(128 - k)]);
    sine += std::abs(weights.cqt_imag[static_cast<size_t>(128 + k)] +
                     weights.cqt_imag[static_cast<size_t>(128 - k)]);
  }
  EXPECT_LT(cosine, 1e-3);
  EXPECT_LT(sine, 1e-3);
}

TEST(BasicPitchWeights, RefuseATruncatedFile) {
  const std::string bytes = read_file(default_weights_path());
  expect_bad_data(scratch_file("half.onnx", bytes.substr(0, bytes.size() / 2)), "truncated");
  expect_bad_data(scratch_file("empty.onnx", ""), "no graph");
  expect_bad_data(scratch_file("text.onnx", "this is not a model"), "not an ONNX model");
}

TEST(BasicPitchWeights, SurviveDamage) {
  // Damage that the format shows is refused; damage inside a number cannot be seen here (`make
  // fetch` checks the hash).
  const std::string bytes = read_file(default_weights_path());
  int refused = 0;
  for (size_t i = 0; i < 200; ++i) {
    std::string damaged = bytes;
    damaged[(i * 7919) % bytes.size()] ^= static_cast<char>(1 << (i % 8));
    if (i % 4 == 0) damaged.resize((i * 104729) % bytes.size());
    try {
      read_weights(scratch_file("damaged.onnx", damaged));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadData);
      ++refused;
    }
  }
  EXPECT_GE(refused, 50);
}

TEST(BasicPitchWeights, RefuseAMissingFile) {
  try {
    read_weights("/nonexistent/nmp.onnx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kNoInput);
    EXPECT_THAT(error.hint(), HasSubstr("make fetch"));
  }
}

}  // namespace
}  // namespace hum::models::basic_pitch
