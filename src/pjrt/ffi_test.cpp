// Kernels called by compiled programs: arguments, attributes, errors, concurrency.
#include "pjrt/ffi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"
#include "base/threads.h"
#include "pjrt/ffi_registry.h"
#include "pjrt/loaded_executable.h"
#include "pjrt/testing_impl.h"

namespace hum::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = factor * x + the sum of the list, negated when asked; "loud" doubles.
void affine(const ffi::Call& call) {
  const auto attributes = call.attributes();
  const auto factor = static_cast<float>(attributes.real("factor"));
  float offset = static_cast<float>(attributes.integer("base"));
  for (const int64_t item : attributes.integers("offsets")) offset += static_cast<float>(item);
  const float sign = attributes.flag("negate") ? -1.0f : 1.0f;
  const float volume = attributes.text("mode") == "loud" ? 2.0f : 1.0f;
  const auto x = call.argument(0).as<const float>();
  const auto y = call.result(0).as<float>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = sign * volume * (factor * x[i] + offset);
}

void refuse(const ffi::Call& call) {
  HUM_REQUIRE(false, "cannot take {} elements", call.argument(0).elements());
}
void misread(const ffi::Call& call) { call.argument(0).as<const int32_t>(); }
void misname(const ffi::Call& call) { call.attributes().integer("absent"); }

constexpr KernelRow kKernels[] = {{"hum.test.affine", 1, &ffi::handler<affine>},
                                  {"hum.test.refuse", 1, &ffi::handler<refuse>},
                                  {"hum.test.misread", 1, &ffi::handler<misread>},
                                  {"hum.test.misname", 1, &ffi::handler<misname>}};

std::string custom_call(const std::string& target, const std::string& config) {
  return fmt::format(R"(
module @call attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
  func.func public @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {{
    %0 = stablehlo.custom_call @{}(%a) {{api_version = 4 : i32, has_side_effect = false,
      backend_config = {{{}}},
      operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]
    }} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }}
}})",
                     target, config);
}

constexpr const char* kAffineConfig =
    R"(base = 1 : i64, factor = 3.0 : f32, mode = "loud", negate = true, offsets = array<i64: 10, 20>)";

std::vector<float> run(const std::string& text) {
  const auto cpu = cpu_client();
  register_handlers(*cpu->plugin(), kKernels);
  const auto program = LoadedExecutable::compile(cpu, text, {});
  const Buffer input = upload_floats(cpu, 0, {1, 2, 3, 4});
  const auto result = program.execute(LoadedExecutable::Arguments{{&input}});
  result.await();
  return download_floats(result.outputs[0][0]);
}

std::string failure(const std::string& text) {
  try {
    run(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Ffi, KernelReadsItsAttributesByName) {
  EXPECT_THAT(run(custom_call("hum.test.affine", kAffineConfig)), ElementsAre(-68, -74, -80, -86));
}

TEST(Ffi, RegisteringTheSameRowsAgainIsFine) {
  const auto plugin = Plugin::open();
  register_handlers(*plugin, kKernels);
  EXPECT_NO_THROW(register_handlers(*plugin, kKernels));
}

TEST(Ffi, TwoKernelsOfOneNameAreRefused) {
  constexpr KernelRow kTwice[] = {kKernels[0], kKernels[1], {kKernels[0].name, 2, nullptr}};
  try {
    register_handlers(*Plugin::open(), kTwice);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("two kernels are named hum.test.affine"));
  }
}

TEST(Ffi, WhatAKernelThrowsReachesTheCaller) {
  EXPECT_THAT(failure(custom_call("hum.test.refuse", "")), HasSubstr("cannot take 4 elements"));
}

TEST(Ffi, ArgumentOfAnotherTypeIsRefused) {
  EXPECT_THAT(failure(custom_call("hum.test.misread", "")),
              HasSubstr("array of type 11 read as type 4"));
}

TEST(Ffi, MissingAttributeIsNamed) {
  EXPECT_THAT(failure(custom_call("hum.test.misname", "present = 1 : i64")),
              HasSubstr("no attribute 'absent'"));
}

TEST(Ffi, UnregisteredKernelFailsAtCompileTimeWithAHint) {
  const std::string text = failure(custom_call("hum.test.unknown", ""));
  EXPECT_THAT(text, HasSubstr("hum.test.unknown"));
  EXPECT_THAT(text, HasSubstr("HUM_KERNELS=0"));
}

TEST(Ffi, HandlersRunFromSeveralThreadsAtOnce) {
  const auto cpu = cpu_client();
  register_handlers(*cpu->plugin(), kKernels);
  const auto program =
      LoadedExecutable::compile(cpu, custom_call("hum.test.affine", kAffineConfig), {});
  std::atomic<int> wrong = 0;
  parallel_for(4, 4, [&](int64_t thread) {
    const auto x = static_cast<float>(thread);
    for (int i = 0; i < 100; ++i) {
      const Buffer input = upload_floats(cpu, 0, {x, x, x, x});
      const auto result = program.execute(LoadedExecutable::Arguments{{&input}});
      result.await();
      const float expected = -2 * (3 * x + 31);
      for (const float y : download_floats(result.outputs[0][0])) wrong += y == expected ? 0 : 1;
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace hum::pjrt
