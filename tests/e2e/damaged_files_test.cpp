// The program given damaged files: it ends with a code of its table, a message, a hint, and no file
// besides those that were there. tests/fuzz damages many more, without starting the program.
#include "audio/io.h"
#include "audio/notes.h"
#include "audio/test_signal.h"
#include "base/rng.h"
#include "base/testing/mutation.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kRounds = 25;

class DamagedFiles : public Program {
 protected:
  // `command` reads the file `name`, and writes out.json if it can.
  void expect_order(const std::string& name, const std::vector<std::string>& command) const {
    const std::string whole = read(name);
    const auto before = files();
    for (int64_t round = 0; round < kRounds; ++round) {
      SCOPED_TRACE(name + ", round " + std::to_string(round));
      Rng rng(27, name, static_cast<uint64_t>(round));
      write(name, mutation::damaged(whole, rng));
      const auto run = run_hum(command);
      EXPECT_TRUE(run.code == 0 || run.code == 65) << run.code << run.err;
      if (run.code != 0) {
        EXPECT_THAT(run.err, AllOf(HasSubstr("error: "), HasSubstr("\nhint: ")));
      }
      EXPECT_EQ(files(), before);
    }
  }
};

TEST_F(DamagedFiles, OfNotesAreRefusedInOrder) {
  const std::vector<audio::Note> notes = {{0.1, 0.5, 60, 0.5, {0, 1, 3}}, {0.5, 0.9, 64, 0.7, {}}};
  for (const char* name : {"a.mid", "a.csv", "a.json"}) {
    audio::write_notes(folder_ / name, notes);
    expect_order(name, {"evaluate", "notes", path(name), path(name)});
  }
}

// A limit of less than the sound stops the program before it computes.
TEST_F(DamagedFiles, OfSoundAreRefusedInOrder) {
  const auto sound = audio::from_mono(audio::test_signal(12000, 22050), 22050);
  for (const char* name : {"a.wav", "a.flac", "a.mp3", "a.ogg"}) {
    audio::write_audio(folder_ / name, sound);
    expect_order(name, {"notes", path(name), "--max-seconds", "0.26", "-o", path("out.json")});
  }
}

}  // namespace
}  // namespace hum::e2e
