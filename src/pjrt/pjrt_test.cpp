// The C API on the real plugin: devices, buffers, compiling, donation, collectives, serialising.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/hash.h"
#include "pjrt/loaded_executable.h"
#include "pjrt/testing_impl.h"

namespace hum::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Arguments = LoadedExecutable::Arguments;

const ArrayType kFour{PJRT_Buffer_Type_F32, {4}};

// 2 * a; `attributes` are the argument's, e.g. donation.
std::string double_module(const std::string& attributes = "") {
  return fmt::format(R"(
module @double attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
  func.func public @main(%a: tensor<4xf32>{}) -> (tensor<4xf32>) {{
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }}
}})",
                     attributes);
}

constexpr const char* kSumOverReplicas = R"(
module @sum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = "stablehlo.all_reduce"(%a) ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";

// What any plugin must be able to do: HUM_PLUGIN=... hum_pjrt_test --gtest_filter=AnyPlugin.*
TEST(AnyPlugin, CompilesRunsAndGivesBackData) {
  const auto client = Client::create(Plugin::open());
  ASSERT_FALSE(client->devices().empty());
  CompileOptions options;
  options.device_ids = {client->devices()[0].id()};
  const auto program = LoadedExecutable::compile(client, double_module(), options);
  EXPECT_EQ(program.executable().outputs(), std::vector{kFour});
  const Buffer input = upload_floats(client, options.device_ids[0], {1, 2, 3, 4});
  EXPECT_EQ(input.type(), kFour);
  const auto run = program.execute(Arguments{{&input}});
  run.await();
  EXPECT_THAT(download_floats(run.outputs[0][0]), ElementsAre(2, 4, 6, 8));
  EXPECT_FALSE(client->platform_name().empty());
}

TEST(Plugin, SaysItsVersionsAndSetsTheEnvironment) {
  const auto plugin = Plugin::open();
  EXPECT_GE(plugin->api_minor(), Plugin::kMinimumMinor);
  std::string names;
  for (const auto& attribute : plugin->attributes()) names += to_string(attribute) + " ";
  EXPECT_THAT(names, HasSubstr("stablehlo_current_version"));
  EXPECT_STREQ(std::getenv("OMP_WAIT_POLICY"), "passive");
  EXPECT_NE(std::getenv("PJRT_NPROC"), nullptr);
}

std::string open_failure(const std::filesystem::path& path) {
  try {
    Plugin::open(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnavailable);
    return error.what();
  }
  return "no error";
}

TEST(Plugin, MissingFileSaysWhatWasProbedAndWhatToDo) {
  const std::string text = open_failure("/nowhere/plugin.so");
  EXPECT_THAT(text, HasSubstr("/nowhere/plugin.so: no such file"));
  EXPECT_THAT(text, HasSubstr("hint: check the path, or name a device (cpu, "));
  EXPECT_THAT(open_failure("/tmp"), HasSubstr("/tmp: not a file"));
}

TEST(Plugin, NoneInAnyFolderListsAllThatWasProbed) {
  const std::filesystem::path folders[] = {"/nowhere/one", "/nowhere/two"};
  try {
    find_plugin("cpu", folders);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("probed /nowhere/one/"));
    EXPECT_THAT(error.what(), HasSubstr("probed /nowhere/two/"));
    EXPECT_THAT(error.what(), HasSubstr("no such file"));
  }
}

TEST(Plugin, IsFoundByDeviceInAWheelsFolderOrAmongPackages) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(::testing::TempDir()) / fmt::format("hum-plugins-{}", ::getpid());
  const fs::path wheel = root / "wheels/jax_cuda13_pjrt/jax_plugins/xla_cuda13/xla_cuda_plugin.so";
  const fs::path package = root / "packages/libtpu/libtpu.so";
  for (const fs::path& file : {wheel, package}) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "";
  }
  const fs::path folders[] = {root / "wheels", root / "packages"};
  EXPECT_EQ(find_plugin("cuda", folders), wheel);
  EXPECT_EQ(find_plugin("tpu", folders), package);
  EXPECT_EQ(find_plugin("/some/plugin.so", folders), "/some/plugin.so");
  try {
    find_plugin("neuron", folders);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no PJRT plugin for device neuron found"));
    EXPECT_THAT(error.what(), HasSubstr("hint: pip install libneuronxla"));
  }
  fs::remove_all(root);
}

TEST(Plugin, OfTheCpuHasAStandInWhereTheDefaultOneIsMissing) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(::testing::TempDir()) / fmt::format("hum-stand-in-{}", ::getpid());
  const fs::path stand_in = root / "xla_cpu_pjrt/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";
  const fs::path usual = root / "fastatomstruct_xla_cpu/fastatomstruct_xla_cpu/libpjrt_cpu.so";
  const fs::path folders[] = {"/nowhere", root};
  const auto make = [](const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "";
  };
  make(stand_in);
  EXPECT_EQ(find_plugin("cpu", folders), stand_in);
  make(usual);
  EXPECT_EQ(find_plugin("cpu", folders), usual);
  fs::remove_all(root);
}

TEST(Plugin, DefaultOneIsTheFileWhoseHashTheDocumentsState) {
  const std::string path = find_plugin("cpu").string();
  if (path.find("fastatomstruct") == path.npos) GTEST_SKIP() << "its stand-in is used: " << path;
  EXPECT_THAT(read_file(source_folder() / "docs/dependencies.md"), HasSubstr(sha256_file(path)));
}

TEST(Plugin, LibraryThatIsNoPluginIsNamedSo) {
  EXPECT_THAT(open_failure(HUM_NO_PLUGIN), HasSubstr("it has no GetPjrtApi"));
}

TEST(Plugin, IsTheFileOfThatNameHereNotOneOnTheLibraryPath) {
  const std::filesystem::path file = HUM_NO_PLUGIN, before = std::filesystem::current_path();
  std::filesystem::current_path(file.parent_path());
  EXPECT_THAT(open_failure(file.filename().string()), HasSubstr("it has no GetPjrtApi"));
  std::filesystem::current_path(before);
}

TEST(Plugin, TooOldVersionIsSaid) {
  EXPECT_THAT(open_failure(HUM_OLD_PLUGIN),
              HasSubstr(fmt::format("has PJRT API 0.30, hum needs 0.{}", Plugin::kMinimumMinor)));
}

TEST(Client, HasAsManyVirtualDevicesAsAsked) {
  const auto client = cpu_client(4);
  ASSERT_EQ(client->devices().size(), 4u);
  EXPECT_EQ(client->device(3).id(), 3);
  EXPECT_EQ(client->device(3).kind(), "cpu");
  EXPECT_THROW(client->device(4), Error);
}

std::string refusal(const std::filesystem::path& plugin, const NamedValues& options) {
  try {
    Client::create(Plugin::open(plugin), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnavailable);
    return error.what();
  }
  return "no error";
}

TEST(Client, WithOtherDevicesThanAskedForIsRefused) {
  EXPECT_EQ(Client::create(Plugin::open(HUM_ONE_DEVICE), {{"cpu_device_count", int64_t{1}}})
                ->devices()
                .size(),
            1u);
  const std::string text = refusal(HUM_ONE_DEVICE, {{"cpu_device_count", int64_t{4}}});
  EXPECT_THAT(text, HasSubstr("requested 4 devices, this client has 1"));
  EXPECT_THAT(text, HasSubstr("the plugin ignored cpu_device_count"));
}

// The default plugin knows no processes.
TEST(Client, OfAnotherProcessThanAskedForIsRefused) {
  EXPECT_EQ(Client::create(Plugin::open(), {{"node_id", int64_t{0}}})->process_index(), 0);
  EXPECT_THAT(refusal(default_plugin_path(), {{"node_id", int64_t{1}}}),
              HasSubstr("requested process 1, this client is process 0"));
  EXPECT_THAT(refusal(HUM_ONE_DEVICE, {{"node_id", int64_t{3}}}), HasSubstr("requested process 3"));
}

TEST(Buffer, RefusesBytesThatDoNotFitItsType) {
  const auto client = cpu_client();
  const std::vector<std::byte> bytes(15);
  EXPECT_THROW(Buffer::from_host(client, client->device(0), kFour, bytes), Error);
  const Buffer buffer = upload_floats(client, 0, {1, 2, 3, 4});
  std::vector<std::byte> small(8);
  EXPECT_THROW(buffer.to_host(small), Error);
}

TEST(Buffer, DeletedBufferCannotBeRead) {
  const auto client = cpu_client();
  Buffer buffer = upload_floats(client, 0, {1, 2, 3, 4});
  EXPECT_GE(buffer.on_device_bytes(), 16u);
  EXPECT_FALSE(buffer.is_deleted());
  buffer.delete_now();
  EXPECT_TRUE(buffer.is_deleted());
  EXPECT_THROW(download_floats(buffer), Error);
}

TEST(Buffer, CopiesBetweenDevicesAndUploadsAsynchronously) {
  const auto client = cpu_client(2);
  const std::vector<float> values{4, 3, 2, 1};
  const auto upload =
      Buffer::from_host_async(client, client->device(0), kFour, std::as_bytes(std::span(values)));
  const Buffer copy = upload.buffer.copy_to(client->device(1));
  upload.done.await();
  copy.ready().await();
  EXPECT_EQ(copy.device().id(), 1);
  EXPECT_THAT(download_floats(copy), ElementsAre(4, 3, 2, 1));
}

TEST(LoadedExecutable, BadModuleGivesTheCompilersText) {
  try {
    LoadedExecutable::compile(cpu_client(), "module { func.func @main( }", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("PJRT_Client_Compile: "));
    EXPECT_THAT(error.what(), HasSubstr("1:26: error: expected non-function type"));
  }
}

TEST(LoadedExecutable, UnknownOptionOverrideIsRefused) {
  CompileOptions options;
  options.overrides["xla_cpu_no_such_option"] = std::string("x");
  EXPECT_THROW(LoadedExecutable::compile(cpu_client(), double_module(), options), Error);
}

TEST(LoadedExecutable, TakesOverridesOfEveryKind) {
  CompileOptions options;
  options.overrides = {{"xla_cpu_scheduler_type", "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"},
                       {"xla_cpu_collective_call_terminate_timeout_seconds", int64_t{600}},
                       {"xla_cpu_enable_fast_math", false}};
  EXPECT_NO_THROW(LoadedExecutable::compile(cpu_client(), double_module(), options));
}

TEST(LoadedExecutable, DonatedArgumentIsDeletedUnlessKept) {
  for (const char* attribute : {" {tf.aliasing_output = 0 : i32}", " {jax.buffer_donor = true}"}) {
    const auto client = cpu_client();
    const auto program = LoadedExecutable::compile(client, double_module(attribute), {});
    const Buffer input = upload_floats(client, 0, {1, 2, 3, 4});
    const std::vector<int64_t> keep{0};
    const auto first = program.execute(Arguments{{&input}}, keep);
    first.await();
    EXPECT_FALSE(input.is_deleted());
    EXPECT_THAT(download_floats(input), ElementsAre(1, 2, 3, 4));
    const auto second = program.execute(Arguments{{&input}});
    second.await();
    EXPECT_TRUE(input.is_deleted());
    EXPECT_THAT(download_floats(second.outputs[0][0]), ElementsAre(2, 4, 6, 8));
  }
}

TEST(LoadedExecutable, AllReduceSumsWithinGroupsOfFourReplicas) {
  const auto client = cpu_client(4);
  CompileOptions options;
  options.device_ids = {0, 1, 2, 3};
  const auto program = LoadedExecutable::compile(client, kSumOverReplicas, options);
  std::vector<Buffer> inputs;
  for (int device = 0; device < 4; ++device) {
    const auto value = static_cast<float>(1 << device);
    inputs.push_back(upload_floats(client, device, {value, 0, 0, value}));
  }
  const auto run =
      program.execute(Arguments{{&inputs[0]}, {&inputs[1]}, {&inputs[2]}, {&inputs[3]}});
  run.await();
  EXPECT_THAT(download_floats(run.outputs[0][0]), ElementsAre(3, 0, 0, 3));
  EXPECT_THAT(download_floats(run.outputs[1][0]), ElementsAre(3, 0, 0, 3));
  EXPECT_THAT(download_floats(run.outputs[3][0]), ElementsAre(12, 0, 0, 12));
}

TEST(LoadedExecutable, RunsOnASubsetOfTheDevices) {
  const auto client = cpu_client(4);
  CompileOptions options;
  options.device_ids = {2};
  const auto program = LoadedExecutable::compile(client, double_module(), options);
  const Buffer input = upload_floats(client, 2, {1, 1, 1, 1});
  const auto run = program.execute(Arguments{{&input}});
  run.await();
  EXPECT_EQ(run.outputs[0][0].device().id(), 2);
}

TEST(LoadedExecutable, SurvivesSerialising) {
  const auto client = cpu_client();
  const std::string bytes =
      LoadedExecutable::compile(client, double_module(), {}).executable().serialize();
  std::string why_not;
  const auto program = LoadedExecutable::try_deserialize(client, bytes, {}, why_not);
  ASSERT_TRUE(program) << why_not;
  const Buffer input = upload_floats(client, 0, {1, 2, 3, 4});
  const auto run = program->execute(Arguments{{&input}});
  run.await();
  EXPECT_THAT(download_floats(run.outputs[0][0]), ElementsAre(2, 4, 6, 8));
}

TEST(LoadedExecutable, RefusesBytesThatAreNoProgram) {
  std::string why_not;
  EXPECT_FALSE(LoadedExecutable::try_deserialize(cpu_client(), "not a program", {}, why_not));
  EXPECT_FALSE(why_not.empty());
}

TEST(Executable, KnowsItsMemory) {
  const auto program = LoadedExecutable::compile(cpu_client(), double_module(), {});
  const auto stats = program.executable().memory_stats();
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->argument_bytes, 16);
  EXPECT_EQ(stats->output_bytes, 16);
  EXPECT_EQ(stats->total_bytes(), 32 + stats->temporary_bytes);
}

}  // namespace
}  // namespace hum::pjrt
