#include "base/env.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/error.h"

namespace hum {
namespace {

constexpr EnvVariable kTable[] = {
    {"HUM_LOG", "info", "log level: trace, debug, info, warn, error, off"},
    {"HUM_PLUGIN", "cpu",
     "default for --device: cpu, cuda, tpu, neuron, or the path of a PJRT plugin"},
    {"HUM_THREADS", "", "compute threads (default: all cores)"},
    {"HUM_KERNELS", "1", "0: replace every kernel by its plain-op fallback"},
    {"HUM_CACHE", "", "compile cache folder (default: $XDG_CACHE_HOME/hum or ~/.cache/hum)"},
    {"HUM_RUNS", "",
     "folder of trainings and their items, which configurations name as $HUM_RUNS/... (default: "
     "runs in the folder of HUM_CACHE)"},
    {"XDG_CACHE_HOME", "", "folder of the user's caches"},
    {"XDG_DATA_HOME", "", "folder of the user's data: hum serve keeps its own below it"},
    {"HOME", "", "the user's home folder"},
    {"HUM_CACHE_SECOND", "",
     "shared compile cache: a path that several machines mount, file://..., s3://bucket/prefix"},
    {"NEURON_COMPILE_CACHE_URL", "", "used if HUM_CACHE_SECOND is not set"},
    {"XLA_FLAGS", "", "read by XLA; programs compiled with other flags are not reused"},
    {"HUM_PROFILE", "", "platform to lower for (default: the plugin's): cpu, cuda, tpu, neuron"},
    {"HUM_LOG_COMPILES", "0", "1: log every compile with its cause"},
    {"HUM_DUMP_IR", "", "folder to write every StableHLO module to, numbered"},
    {"HUM_SKIP_PASS", "", "comma-separated passes to skip"},
    {"HUM_CHECK_NANS", "0", "1: report op and source line of the first value that is not finite"},
    {"HUM_FAKE_DEVICES", "1", "number of virtual CPU devices"},
    {"HUM_WEIGHTS", "",
     "folder of released weights (default: share/hum/weights of the installation, else weights/)"},
    {"HUM_SOUND_FONT", "", "sound font used to render timbre references (default: FluidR3_GM.sf2)"},
    {"OMPI_COMM_WORLD_RANK", "", "mpirun: rank of this process"},
    {"OMPI_COMM_WORLD_SIZE", "", "mpirun: number of processes"},
    {"RANK", "", "torchrun: rank of this process"},
    {"WORLD_SIZE", "", "torchrun: number of processes"},
    {"SLURM_PROCID", "", "srun: rank of this process"},
    {"SLURM_STEP_NUM_TASKS", "", "srun: number of processes"},
    {"VIRTUAL_ENV", "", "Python virtual environment, also searched for plugins"},
    {"HUM_SOURCE_DIR", "", "repository root, set by the test runner"},
    {"HUM_THIRD_PARTY", "",
     "folder of the unpacked wheels (default: lib/hum of the installation, else "
     "build/third_party)"},
    {"AWS_ACCESS_KEY_ID", "", "S3: access key"},
    {"AWS_SECRET_ACCESS_KEY", "", "S3: secret key that signs requests", /*secret=*/true},
    {"AWS_SESSION_TOKEN", "", "S3: session token of temporary credentials", /*secret=*/true},
    {"AWS_SHARED_CREDENTIALS_FILE", "",
     "S3: file with the keys if the variables are not set (default: ~/.aws/credentials)"},
    {"AWS_PROFILE", "", "S3: its section to use (default: default)"},
    {"AWS_REGION", "", "S3: region of the bucket (default: AWS_DEFAULT_REGION, else us-east-1)"},
    {"AWS_DEFAULT_REGION", "", "used if AWS_REGION is not set"},
    {"AWS_ENDPOINT_URL_S3", "", "S3: endpoint of a server other than AWS (https://host:port)"},
    {"AWS_ENDPOINT_URL", "", "used if AWS_ENDPOINT_URL_S3 is not set"},
    {"HUM_KEY", "", "hum client: token for the server, as hum serve add-key prints it",
     /*secret=*/true},
    {"HUM_OPS_ISA", "", "kernels: highest instruction set to use (avx2, avx512, avx512_bf16, amx)"},
};

const char* lookup(std::string_view name) {
  const bool known = std::ranges::any_of(kTable, [&](const auto& row) { return row.name == name; });
  HUM_CHECK(known, "environment variable {} is not in the table", name);
  return std::getenv(std::string(name).c_str());
}

}  // namespace

std::span<const EnvVariable> env_table() { return kTable; }

std::string env_string(std::string_view name, std::string_view default_value) {
  const char* text = lookup(name);
  return text == nullptr || *text == '\0' ? std::string(default_value) : std::string(text);
}

bool env_flag(std::string_view name, bool default_value) {
  const char* text = lookup(name);
  if (text == nullptr) return default_value;
  const std::string_view value = text;
  return !(value.empty() || value == "0" || value == "false" || value == "off" || value == "no");
}

int64_t env_int(std::string_view name, int64_t default_value) {
  const std::string text = env_string(name);
  if (text.empty()) return default_value;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ExitCode::kUsage, fmt::format("{}: '{}' is not a whole number", name, text),
         "'hum env' lists the environment variables and their values");
  }
  return value;
}

}  // namespace hum
