// Damaged files at every door: they are read, or refused with an error that says what is wrong and
// what to do. No crash, no bug of ours, no file left.
#include "tests/fuzz/doors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "base/testing/mutation.h"

namespace hum::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Of the codes in docs/cli/README.md, those that a file can cause.
bool is_fault_of_a_file(ExitCode code) {
  return code == ExitCode::kBadData || code == ExitCode::kConfig || code == ExitCode::kNoInput ||
         code == ExitCode::kUsage;
}

// Empty, or what the door did wrong.
std::string fault_of(const Door& door, const fs::path& file) {
  try {
    door.open(file);
    return "";
  } catch (const Error& error) {
    if (!is_fault_of_a_file(error.code())) {
      return fmt::format("exit code {}: {}", static_cast<int>(error.code()), error.what());
    }
    return error.hint().empty() ? std::string("no hint: ") + error.what() : "";
  } catch (const std::exception& error) {
    return std::string("not an Error: ") + error.what();
  }
}

class Doors : public ::testing::Test {
 protected:
  Doors() : doors_(all_doors(scratch_.path())) { fs::create_directory(folder_); }

  void expect_no_fault(const Door& door, const std::string& what, const std::string& bytes) {
    // A crash leaves the file, under a name that says how to make it again.
    const fs::path file = folder_ / (door.name + "-" + what + door.extension);
    std::ofstream(file, std::ios::binary) << bytes;  // without the fsync of write_file
    const std::string fault = fault_of(door, file);
    EXPECT_EQ(fault, "") << file.filename();
    fs::remove(file);
    EXPECT_TRUE(fs::is_empty(folder_)) << file.filename();
  }
  void expect_round_without_fault(const Door& door, int64_t round) {
    Rng rng(26, door.name + door.extension, static_cast<uint64_t>(round));
    const auto& files = door.files;
    const auto& whole = files[static_cast<size_t>(rng.integer(0, std::ssize(files) - 1))];
    expect_no_fault(door, std::to_string(round), mutation::damaged(whole, rng));
  }

  const ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path() / "damaged";
  const std::vector<Door> doors_;
};

TEST_F(Doors, OpenForValidFiles) {
  for (const Door& door : doors_) {
    for (const auto& bytes : door.files) {
      const fs::path file = folder_ / ("valid" + door.extension);
      write_file(file, bytes);
      EXPECT_NO_THROW(door.open(file)) << door.name << door.extension;
      fs::remove(file);
    }
  }
}

TEST_F(Doors, ReadOrRefuseWhatIsCutDoubledOrOfAnotherKind) {
  for (const Door& door : doors_) {
    for (size_t i = 0; i < door.files.size(); ++i) {
      const std::string& bytes = door.files[i];
      const auto expect = [&](const char* what, const std::string& other) {
        expect_no_fault(door, fmt::format("{}-{}", i, what), other);
      };
      expect("empty", "");
      expect("one", bytes.substr(0, 1));
      expect("head", bytes.substr(0, 12));
      expect("half", bytes.substr(0, bytes.size() / 2));
      expect("nearly", bytes.substr(0, bytes.size() - 1));
      expect("tail", bytes.substr(bytes.size() / 2));
      expect("twice", bytes + bytes);
      expect("zeros", std::string(bytes.size(), '\0'));
      expect("ones", std::string(bytes.size(), '\xff'));
      for (const Door& other : doors_) expect(other.name.c_str(), other.files[0]);
    }
  }
}

TEST_F(Doors, ReadOrRefuseDamagedFiles) {
  for (const Door& door : doors_) {
    const auto start = Clock::now();
    for (int64_t round = 0; round < door.rounds && !HasFailure(); ++round) {
      expect_round_without_fault(door, round);
    }
    const std::chrono::duration<double> seconds = Clock::now() - start;
    RecordProperty(door.name + door.extension, fmt::format("{:.1f}", seconds.count()));
  }
}

// Under an hour, from the rounds of the quick test on.
TEST_F(Doors, SlowRoundsReadOrRefuseDamagedFiles) {
  const auto end = Clock::now() + std::chrono::minutes(50);
  for (int64_t hundred = 0; Clock::now() < end && !HasFailure(); ++hundred) {
    for (const Door& door : doors_) {
      for (int64_t i = 0; i < 100 && Clock::now() < end; ++i) {
        expect_round_without_fault(door, door.rounds + 100 * hundred + i);
      }
    }
  }
}

}  // namespace
}  // namespace hum::fuzz
