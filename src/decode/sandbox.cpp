#include "decode/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <initializer_list>

#include "base/error.h"
#include "decode/memory_file.h"

namespace hum::decode {
namespace {

constexpr int kMostFiles = 64;
// Above kMostFiles: after it was closed, no other file can get this number.
constexpr int kProgramDescriptor = 100;
constexpr int64_t kLibraryBytes = int64_t{1} << 30;

[[noreturn]] void fail_confining(const char* what, int error) {
  fail(ExitCode::kUnavailable,
       fmt::format("uploads cannot be decoded: {}: {}", what, std::strerror(error)),
       "hum decodes them under seccomp; run it on a kernel and in a container that allow it");
}

// Only lowers it: a process may not go above a hard limit that the user has set.
void limit(__rlimit_resource_t resource, int64_t soft, int64_t hard) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) fail_confining("cannot read a limit", errno);
  const rlimit value = {std::min(static_cast<rlim_t>(soft), now.rlim_max),
                        std::min(static_cast<rlim_t>(hard), now.rlim_max)};
  if (::setrlimit(resource, &value) != 0) fail_confining("cannot set a limit", errno);
}

void forbid_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail_confining("no_new_privs", errno);
}

scmp_arg_cmp equals(unsigned argument, uint64_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
// None of the bits is set.
scmp_arg_cmp lacks(unsigned argument, uint64_t bits) {
  return {argument, SCMP_CMP_MASKED_EQ, bits, 0};
}

// A list of system calls that are allowed; what happens to others is up to the list.
class Filter {
 public:
  explicit Filter(uint32_t otherwise) : context_(::seccomp_init(otherwise)) {
    if (context_ == nullptr) fail_confining("seccomp", ENOMEM);
    // All threads, should a library have started one.
    check(::seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1));
  }
  ~Filter() { ::seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  void allow(std::initializer_list<int> calls) {
    for (const int call : calls) add(SCMP_ACT_ALLOW, call, {});
  }
  // If all conditions hold. Several rules for a call: if one of them holds.
  void allow_if(int call, std::initializer_list<scmp_arg_cmp> conditions) {
    add(SCMP_ACT_ALLOW, call, conditions);
  }
  void answer(int call, int error) { add(SCMP_ACT_ERRNO(static_cast<uint32_t>(error)), call, {}); }
  void load() { check(::seccomp_load(context_)); }

 private:
  static void check(int result) {
    if (result < 0) fail_confining("seccomp", -result);
  }
  void add(uint32_t action, int call, std::initializer_list<scmp_arg_cmp> conditions) {
    const int result = ::seccomp_rule_add_array(
        context_, action, call, static_cast<unsigned>(conditions.size()), conditions.begin());
    if (result != -EDOM) check(result);  // EDOM: the architecture has no such call
  }

  scmp_filter_ctx context_;
};

// What computing takes: memory, locks, the clock, open files, its own end.
void allow_computing(Filter& filter) {
  filter.allow({SCMP_SYS(read),
                SCMP_SYS(write),
                SCMP_SYS(lseek),
                SCMP_SYS(close),
                SCMP_SYS(munmap),
                SCMP_SYS(mremap),
                SCMP_SYS(madvise),
                SCMP_SYS(brk),
                SCMP_SYS(futex),
                SCMP_SYS(sched_yield),
                SCMP_SYS(getcpu),
                SCMP_SYS(getrandom),
                SCMP_SYS(clock_gettime),
                SCMP_SYS(gettimeofday),
                SCMP_SYS(time),
                SCMP_SYS(getpid),
                SCMP_SYS(gettid),
                SCMP_SYS(rt_sigaction),
                SCMP_SYS(rt_sigprocmask),
                SCMP_SYS(rt_sigreturn),
                SCMP_SYS(restart_syscall),
                SCMP_SYS(exit),
                SCMP_SYS(exit_group),
                SCMP_SYS(sysinfo)});  // qsort asks for memory
  // abort() sends itself a signal.
  filter.allow_if(SCMP_SYS(tgkill), {equals(0, static_cast<uint64_t>(::getpid()))});
}

// What its loader, its threads and reading files take.
void allow_program(Filter& filter) {
  allow_computing(filter);
  filter.allow({SCMP_SYS(mmap),
                SCMP_SYS(mprotect),
                SCMP_SYS(pread64),
                SCMP_SYS(readv),
                SCMP_SYS(writev),
                SCMP_SYS(fcntl),
                SCMP_SYS(access),
                SCMP_SYS(faccessat),
                SCMP_SYS(faccessat2),
                SCMP_SYS(stat),
                SCMP_SYS(lstat),
                SCMP_SYS(fstat),
                SCMP_SYS(newfstatat),
                SCMP_SYS(statx),
                SCMP_SYS(readlink),
                SCMP_SYS(readlinkat),
                SCMP_SYS(getdents64),
                SCMP_SYS(getcwd),
                SCMP_SYS(fadvise64),
                SCMP_SYS(arch_prctl),
                SCMP_SYS(set_tid_address),
                SCMP_SYS(set_robust_list),
                SCMP_SYS(rseq),
                SCMP_SYS(membarrier),
                SCMP_SYS(sched_getaffinity),
                SCMP_SYS(uname),
                SCMP_SYS(getuid),
                SCMP_SYS(geteuid),
                SCMP_SYS(getgid),
                SCMP_SYS(getegid),
                SCMP_SYS(getrusage),
                SCMP_SYS(times),
                SCMP_SYS(poll),
                SCMP_SYS(ppoll),
                SCMP_SYS(select),
                SCMP_SYS(pselect6),
                SCMP_SYS(nanosleep),
                SCMP_SYS(clock_nanosleep),
                SCMP_SYS(clock_getres),
                SCMP_SYS(sigaltstack)});
  constexpr uint64_t kWriting = O_ACCMODE | O_CREAT | O_TRUNC;
  filter.allow_if(SCMP_SYS(open), {lacks(1, kWriting)});
  filter.allow_if(SCMP_SYS(openat), {lacks(2, kWriting)});
  // Threads, not processes. The arguments of clone3 cannot be seen; without it glibc uses clone.
  filter.allow_if(SCMP_SYS(clone), {{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD}});
  filter.answer(SCMP_SYS(clone3), ENOSYS);
  filter.allow_if(SCMP_SYS(prctl), {equals(0, PR_SET_NAME)});
  // Its limits can be read; that of memory is set last.
  filter.allow_if(SCMP_SYS(prlimit64), {equals(0, 0), equals(2, 0)});
  filter.allow_if(SCMP_SYS(prlimit64), {equals(0, 0), equals(1, RLIMIT_AS)});
  filter.allow_if(SCMP_SYS(execveat), {equals(0, kProgramDescriptor)});
}

void allow_reading(int rules, int parent, uint64_t access) {
  if (parent < 0) return;  // not on this system
  const landlock_path_beneath_attr beneath{.allowed_access = access, .parent_fd = parent};
  if (::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) {
    fail_confining("Landlock", errno);
  }
}

// Files and folders that can be opened from now on: the system's and `program`. Files without a
// path, such as the upload, are not concerned. Kernels without Landlock skip this.
void hide_other_files(int program) {
  constexpr uint64_t kReading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  constexpr uint64_t kWriting = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  const landlock_ruleset_attr handled{.handled_access_fs = kReading | kWriting};
  const OpenFile rules(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0)));
  if (!rules.is_open()) return;
  for (const char* folder : {"/usr", "/lib", "/lib64", "/opt"}) {
    const OpenFile parent(::open(folder, O_PATH | O_CLOEXEC));
    allow_reading(rules.descriptor(), parent.descriptor(), kReading);
  }
  const OpenFile libraries(::open("/etc/ld.so.cache", O_PATH | O_CLOEXEC));
  allow_reading(rules.descriptor(), libraries.descriptor(), LANDLOCK_ACCESS_FS_READ_FILE);
  allow_reading(rules.descriptor(), program, LANDLOCK_ACCESS_FS_READ_FILE);
  if (::syscall(SYS_landlock_restrict_self, rules.descriptor(), 0) != 0) {
    fail_confining("Landlock", errno);
  }
}

struct MemoryInUse {
  int64_t mapped_bytes = 0, written_bytes = 0;
};
MemoryInUse memory_in_use() {
  int64_t pages[6] = {};  // size, resident, shared, text, 0, data and stack
  std::ifstream file("/proc/self/statm");
  for (int64_t& count : pages) file >> count;
  const int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  return {pages[0] * page_bytes, pages[5] * page_bytes};
}

}  // namespace

void limit_resources(int64_t processor_s, int64_t file_bytes) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail_confining("cannot follow its parent", errno);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_CPU, processor_s, processor_s + 1);
  limit(RLIMIT_FSIZE, file_bytes, file_bytes);
}

void limit_memory(int64_t bytes) {
  if (kHasSanitizer) return;
  const int64_t most = memory_in_use().mapped_bytes + bytes;
  limit(RLIMIT_AS, most, most);
}

void limit_written_memory(int64_t bytes) {
  if (kHasSanitizer) return;
  const int64_t most = memory_in_use().written_bytes + bytes;
  limit(RLIMIT_DATA, most, most);
}

void allow_decoding_only(int socket) {
  limit(RLIMIT_NOFILE, kMostFiles, kMostFiles);
  limit(RLIMIT_NPROC, 0, 0);
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) fail_confining("cannot hide its memory", errno);
  forbid_privileges();
  Filter filter(SCMP_ACT_KILL_PROCESS);
  allow_computing(filter);
  filter.allow_if(SCMP_SYS(mmap), {lacks(2, PROT_EXEC)});
  filter.allow_if(SCMP_SYS(mprotect), {lacks(2, PROT_EXEC)});
  if (socket >= 0) {
    filter.allow_if(SCMP_SYS(recvmsg), {equals(0, static_cast<uint64_t>(socket))});
  }
  if (kHasSanitizer) {  // its threads, and the pipe by which it finds out what memory is mapped
    filter.allow({SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(sigaltstack),
                  SCMP_SYS(sched_getaffinity), SCMP_SYS(mincore), SCMP_SYS(pipe), SCMP_SYS(pipe2)});
  }
  filter.load();
}

bool has_landlock() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
}

void become_program(int program, const std::vector<std::string>& arguments, int64_t memory_bytes) {
  std::vector<char*> texts;
  for (const std::string& text : arguments) texts.push_back(const_cast<char*>(text.c_str()));
  texts.push_back(nullptr);
  char* no_variables[] = {nullptr};
  if (::dup3(program, kProgramDescriptor, O_CLOEXEC) < 0) fail_confining("cannot open it", errno);
  ::close(program);
  limit(RLIMIT_NOFILE, kMostFiles, kMostFiles);
  forbid_privileges();
  hide_other_files(kProgramDescriptor);
  Filter filter(SCMP_ACT_ERRNO(EPERM));
  allow_program(filter);
  filter.load();
  limit(RLIMIT_AS, kLibraryBytes + memory_bytes, kLibraryBytes + memory_bytes);
  ::execveat(kProgramDescriptor, "", texts.data(), no_variables, AT_EMPTY_PATH);
  fail_confining("cannot run the program", errno);
}

}  // namespace hum::decode
