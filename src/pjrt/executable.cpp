#include "pjrt/executable.h"

#include "base/error.h"
#include "pjrt/call.h"

namespace hum::pjrt {

std::string Executable::name() const {
  PJRT_Executable_Name_Args args{};
  args.executable = executable_.get();
  HUM_PJRT_CALL(api(), PJRT_Executable_Name, args);
  return {args.executable_name, args.executable_name_size};
}

std::vector<ArrayType> Executable::outputs() const {
  PJRT_Executable_OutputElementTypes_Args types{};
  types.executable = executable_.get();
  HUM_PJRT_CALL(api(), PJRT_Executable_OutputElementTypes, types);
  PJRT_Executable_OutputDimensions_Args dims{};
  dims.executable = executable_.get();
  HUM_PJRT_CALL(api(), PJRT_Executable_OutputDimensions, dims);
  HUM_CHECK(types.num_output_types == dims.num_outputs);
  std::vector<ArrayType> result;
  const int64_t* next = dims.dims;
  for (size_t i = 0; i < dims.num_outputs; ++i) {
    result.push_back({types.output_types[i], {next, next + dims.dim_sizes[i]}});
    next += dims.dim_sizes[i];
  }
  return result;
}

std::string Executable::serialize() const {
  std::string why_not;
  auto bytes = try_serialize(why_not);
  if (!bytes) fail(ExitCode::kUnavailable, "cannot serialise the program: " + why_not);
  return std::move(*bytes);
}

std::optional<std::string> Executable::try_serialize(std::string& why_not) const {
  PJRT_Executable_Serialize_Args args{};
  args.executable = executable_.get();
  if (const auto failure = HUM_PJRT_TRY(api(), PJRT_Executable_Serialize, args)) {
    why_not = failure->text();
    return std::nullopt;
  }
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  return bytes;
}

std::optional<Executable::MemoryStats> Executable::memory_stats() const {
  if (api().PJRT_Executable_GetCompiledMemoryStats == nullptr) return std::nullopt;
  PJRT_Executable_GetCompiledMemoryStats_Args args{};
  args.executable = executable_.get();
  if (HUM_PJRT_TRY(api(), PJRT_Executable_GetCompiledMemoryStats, args)) return std::nullopt;
  return MemoryStats{args.generated_code_size_in_bytes, args.argument_size_in_bytes,
                     args.output_size_in_bytes, args.alias_size_in_bytes, args.temp_size_in_bytes};
}

NamedValues Executable::cost_analysis() const {
  PJRT_Executable_GetCostAnalysis_Args args{};
  args.executable = executable_.get();
  if (HUM_PJRT_TRY(api(), PJRT_Executable_GetCostAnalysis, args)) return {};
  return from_c({args.properties, args.num_properties});
}

void Executable::Deleter::operator()(PJRT_Executable* executable) const {
  PJRT_Executable_Destroy_Args args{};
  args.executable = executable;
  (void)HUM_PJRT_TRY(client->api(), PJRT_Executable_Destroy, args);
}

}  // namespace hum::pjrt
