#include "decode/memory_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/files.h"
#include "base/scratch_folder.h"

namespace hum::decode {
namespace {

// Memory of this process that is in RAM.
int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST(FileView, TakesNoMemoryForWhatItForgets) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer's own memory of what was read counts as resident";
#endif
  constexpr int64_t kBytes = int64_t{64} << 20;
  const ScratchFolder folder;
  write_file(folder / "sound", std::string(kBytes, 'a'));
  const OpenFile file(::open((folder / "sound").c_str(), O_RDONLY | O_CLOEXEC));
  const FileView view(file.descriptor(), kBytes);
  const auto count = [&] { return std::ranges::count(view.bytes(), 'a'); };
  const int64_t before = resident_bytes();
  EXPECT_EQ(count(), kBytes);
  EXPECT_GT(resident_bytes() - before, kBytes / 2);
  view.forget();
  EXPECT_LT(resident_bytes() - before, kBytes / 8);
  EXPECT_EQ(count(), kBytes) << "the file has it still";
}

}  // namespace
}  // namespace hum::decode
