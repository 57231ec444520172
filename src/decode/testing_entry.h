// Test helper: makes a test program also the child that decodes. At least one source of each
// program whose tests decode includes it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "decode/confined.h"
#include "decode/testing.h"

namespace hum::decode {

// Takes over before the first test.
class DecoderEntry : public ::testing::Environment {
 public:
  void SetUp() override {
    auto arguments = arguments_of(::getpid());
    std::vector<char*> texts;
    for (std::string& argument : arguments) texts.push_back(argument.data());
    enter_decoder(static_cast<int>(texts.size()), texts.data());
  }
};
inline const auto* const kDecoderEntry = ::testing::AddGlobalTestEnvironment(new DecoderEntry);

}  // namespace hum::decode
