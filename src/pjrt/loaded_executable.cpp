#include "pjrt/loaded_executable.h"

#include "base/error.h"
#include "pjrt/call.h"

namespace hum::pjrt {
namespace {

PJRT_Executable* get_executable(const PJRT_Api& api, PJRT_LoadedExecutable* loaded) {
  PJRT_LoadedExecutable_GetExecutable_Args args{};
  args.loaded_executable = loaded;
  HUM_PJRT_CALL(api, PJRT_LoadedExecutable_GetExecutable, args);
  return args.executable;
}

}  // namespace

LoadedExecutable LoadedExecutable::compile(std::shared_ptr<const Client> client,
                                           std::string_view stablehlo,
                                           const CompileOptions& options) {
  constexpr std::string_view kFormat = "mlir";
  const std::string serialized = serialize(options);
  std::string code(stablehlo);  // the C API needs a mutable pointer

  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  program.code = code.data();
  program.code_size = code.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();

  PJRT_Client_Compile_Args args{};
  args.client = client->get();
  args.program = &program;
  args.compile_options = serialized.data();
  args.compile_options_size = serialized.size();
  HUM_PJRT_CALL(client->api(), PJRT_Client_Compile, args);
  return {std::move(client), args.executable, options};
}

std::optional<LoadedExecutable> LoadedExecutable::try_deserialize(
    std::shared_ptr<const Client> client, std::string_view bytes, const CompileOptions& options,
    std::string& why_not) {
  const std::string serialized = serialize(options);
  PJRT_Executable_DeserializeAndLoad_Args args{};
  args.client = client->get();
  args.serialized_executable = bytes.data();
  args.serialized_executable_size = bytes.size();
  // Without these the saved device assignment would be used.
  args.overridden_serialized_compile_options = serialized.data();
  args.overridden_serialized_compile_options_size = serialized.size();
  if (const auto failure = HUM_PJRT_TRY(client->api(), PJRT_Executable_DeserializeAndLoad, args)) {
    why_not = failure->text();
    return std::nullopt;
  }
  return LoadedExecutable(std::move(client), args.loaded_executable, options);
}

LoadedExecutable::LoadedExecutable(std::shared_ptr<const Client> client,
                                   PJRT_LoadedExecutable* loaded, const CompileOptions& options)
    : loaded_(loaded, Deleter{client}),
      executable_(client, get_executable(client->api(), loaded)),
      device_count_(static_cast<int>(options.device_ids.size())),
      output_count_(static_cast<int>(executable_.outputs().size())) {}

LoadedExecutable::Run LoadedExecutable::execute(
    std::span<const std::vector<const Buffer*>> arguments, std::span<const int64_t> keep) const {
  const auto devices = static_cast<size_t>(device_count_);
  HUM_REQUIRE(arguments.size() == devices, "execute: arguments for {} devices, compiled for {}",
              arguments.size(), devices);
  std::vector<std::vector<PJRT_Buffer*>> inputs(devices);
  std::vector<PJRT_Buffer* const*> input_lists;
  for (size_t d = 0; d < devices; ++d) {
    HUM_REQUIRE(arguments[d].size() == arguments[0].size(),
                "execute: device {} has {} arguments, device 0 has {}", d, arguments[d].size(),
                arguments[0].size());
    for (const Buffer* buffer : arguments[d]) inputs[d].push_back(buffer->get());
    input_lists.push_back(inputs[d].data());
  }
  std::vector<std::vector<PJRT_Buffer*>> outputs(
      devices, std::vector<PJRT_Buffer*>(static_cast<size_t>(output_count_)));
  std::vector<PJRT_Buffer**> output_lists;
  for (auto& list : outputs) output_lists.push_back(list.data());
  std::vector<PJRT_Event*> events(devices);

  PJRT_ExecuteOptions options{};
  options.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;
  options.non_donatable_input_indices = keep.data();
  options.num_non_donatable_input_indices = keep.size();
  PJRT_LoadedExecutable_Execute_Args args{};
  args.executable = loaded_.get();
  args.options = &options;
  args.argument_lists = input_lists.data();
  args.num_devices = devices;
  args.num_args = arguments[0].size();
  args.output_lists = output_lists.data();
  args.device_complete_events = events.data();
  HUM_PJRT_CALL(client()->api(), PJRT_LoadedExecutable_Execute, args);

  Run run;
  for (size_t d = 0; d < devices; ++d) {
    auto& list = run.outputs.emplace_back();
    for (PJRT_Buffer* buffer : outputs[d]) list.emplace_back(client(), buffer);
    run.done.emplace_back(client()->plugin(), events[d]);
  }
  return run;
}

void LoadedExecutable::Run::await() const {
  for (const Event& event : done) event.await();
}

void LoadedExecutable::Deleter::operator()(PJRT_LoadedExecutable* executable) const {
  PJRT_LoadedExecutable_Destroy_Args args{};
  args.executable = executable;
  (void)HUM_PJRT_TRY(client->api(), PJRT_LoadedExecutable_Destroy, args);
}

}  // namespace hum::pjrt
