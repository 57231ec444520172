#include "pjrt/ffi.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>

#include "base/error.h"

namespace hum::pjrt::ffi {
namespace {

XLA_FFI_Error* make_error(const XLA_FFI_Api& api, const char* message) {
  XLA_FFI_Error_Create_Args args{};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = message;
  args.errc = XLA_FFI_Error_Code_INTERNAL;
  return api.XLA_FFI_Error_Create(&args);
}

void destroy(const XLA_FFI_Api& api, XLA_FFI_Error* error) {
  XLA_FFI_Error_Destroy_Args args{};
  args.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE;
  args.error = error;
  api.XLA_FFI_Error_Destroy(&args);
}

// Takes ownership of `error`.
[[noreturn]] void raise(const XLA_FFI_Api& api, XLA_FFI_Error* error, const char* what) {
  XLA_FFI_Error_GetMessage_Args message{};
  message.struct_size = XLA_FFI_Error_GetMessage_Args_STRUCT_SIZE;
  message.error = error;
  api.XLA_FFI_Error_GetMessage(&message);
  const std::string text = message.message;
  destroy(api, error);
  fail(ExitCode::kFailure, fmt::format("{}: {}", what, text));
}

// A newer plugin may have types that are not in our enum, so the number is read as a plain integer.
bool is_metadata(const XLA_FFI_Extension_Base& extension) {
  std::underlying_type_t<XLA_FFI_Extension_Type> type;
  std::memcpy(&type, &extension.type, sizeof(type));
  return type == static_cast<decltype(type)>(XLA_FFI_Extension_Metadata);
}

// Only fields that every version of the API has are used here. If the plugin reports its own
// version, that version is returned.
void answer_metadata(const XLA_FFI_CallFrame& frame, XLA_FFI_Metadata& metadata) {
  const bool known = frame.api != nullptr;
  metadata.api_version.major_version =
      known ? frame.api->api_version.major_version : XLA_FFI_API_MAJOR;
  metadata.api_version.minor_version =
      known ? frame.api->api_version.minor_version : XLA_FFI_API_MINOR;
  metadata.traits = 0;
}

}  // namespace

int64_t Array::size(int dim) const {
  const int64_t rank = buffer_->rank;
  const int64_t index = dim < 0 ? dim + rank : dim;
  HUM_REQUIRE(index >= 0 && index < rank, "kernel: dim {} of an array of rank {}", dim, rank);
  return buffer_->dims[index];
}

int64_t Array::elements() const {
  int64_t count = 1;
  for (const int64_t size : dims()) count *= size;
  return count;
}

void Array::require(XLA_FFI_DataType wanted) const {
  HUM_REQUIRE(dtype() == wanted, "kernel: array of type {} read as type {} (XLA's numbers)",
              static_cast<int>(dtype()), static_cast<int>(wanted));
}

const void* Attributes::find(std::string_view name, XLA_FFI_AttrType type) const {
  const auto count = static_cast<size_t>(attributes_->size);
  const std::span names(attributes_->names, count);
  const auto found = std::ranges::lower_bound(names, name, {}, [](const XLA_FFI_ByteSpan* span) {
    return std::string_view(span->ptr, span->len);
  });
  HUM_REQUIRE(found != names.end() && std::string_view((*found)->ptr, (*found)->len) == name,
              "kernel: no attribute '{}'", name);
  const auto index = static_cast<size_t>(found - names.begin());
  HUM_REQUIRE(attributes_->types[index] == type, "kernel: attribute '{}' is of another kind ({})",
              name, static_cast<int>(attributes_->types[index]));
  return attributes_->attrs[index];
}

bool Attributes::contains(std::string_view name) const {
  const std::span names(attributes_->names, static_cast<size_t>(attributes_->size));
  return std::ranges::any_of(names, [&](const XLA_FFI_ByteSpan* span) {
    return std::string_view(span->ptr, span->len) == name;
  });
}

const XLA_FFI_Scalar& Attributes::scalar(std::string_view name) const {
  return *static_cast<const XLA_FFI_Scalar*>(find(name, XLA_FFI_AttrType_SCALAR));
}

int64_t Attributes::integer(std::string_view name) const {
  const XLA_FFI_Scalar& value = scalar(name);
  switch (value.dtype) {
    case XLA_FFI_DataType_S32:
      return *static_cast<const int32_t*>(value.value);
    case XLA_FFI_DataType_S64:
      return *static_cast<const int64_t*>(value.value);
    case XLA_FFI_DataType_U32:
      return *static_cast<const uint32_t*>(value.value);
    case XLA_FFI_DataType_U64:
      return static_cast<int64_t>(*static_cast<const uint64_t*>(value.value));
    default:
      fail(ExitCode::kFailure, fmt::format("kernel: '{}' is not an integer", name));
  }
}

double Attributes::real(std::string_view name) const {
  const XLA_FFI_Scalar& value = scalar(name);
  switch (value.dtype) {
    case XLA_FFI_DataType_F32:
      return *static_cast<const float*>(value.value);
    case XLA_FFI_DataType_F64:
      return *static_cast<const double*>(value.value);
    default:
      fail(ExitCode::kFailure, fmt::format("kernel: '{}' is not a real number", name));
  }
}

bool Attributes::flag(std::string_view name) const {
  const XLA_FFI_Scalar& value = scalar(name);
  HUM_REQUIRE(value.dtype == XLA_FFI_DataType_PRED, "kernel: '{}' is not true or false", name);
  return *static_cast<const bool*>(value.value);
}

std::string_view Attributes::text(std::string_view name) const {
  const auto& span = *static_cast<const XLA_FFI_ByteSpan*>(find(name, XLA_FFI_AttrType_STRING));
  return {span.ptr, span.len};
}

std::span<const int64_t> Attributes::integers(std::string_view name) const {
  const auto& array = *static_cast<const XLA_FFI_Array*>(find(name, XLA_FFI_AttrType_ARRAY));
  HUM_REQUIRE(array.dtype == XLA_FFI_DataType_S64, "kernel: '{}' is not a list of i64", name);
  return {static_cast<const int64_t*>(array.data), array.size};
}

Attributes Attributes::dictionary(std::string_view name) const {
  return Attributes(*static_cast<const XLA_FFI_Attrs*>(find(name, XLA_FFI_AttrType_DICTIONARY)));
}

Array Call::argument(int i) const {
  HUM_REQUIRE(i >= 0 && i < argument_count(), "kernel: argument {} of {}", i, argument_count());
  return Array(*static_cast<const XLA_FFI_Buffer*>(frame_->args.args[i]));
}

Array Call::result(int i) const {
  HUM_REQUIRE(i >= 0 && i < result_count(), "kernel: result {} of {}", i, result_count());
  return Array(*static_cast<const XLA_FFI_Buffer*>(frame_->rets.rets[i]));
}

void* Call::stream() const {
  XLA_FFI_Stream_Get_Args args{};
  args.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE;
  args.ctx = frame_->ctx;
  if (XLA_FFI_Error* error = frame_->api->XLA_FFI_Stream_Get(&args)) {
    raise(*frame_->api, error, "kernel: no stream");
  }
  return args.stream;
}

int Call::pool_threads() const {
  if (frame_->api->struct_size < offsetof(XLA_FFI_Api, XLA_FFI_ThreadPool_NumThreads) +
                                     sizeof(frame_->api->XLA_FFI_ThreadPool_NumThreads)) {
    return 1;
  }
  int64_t threads = 0;
  XLA_FFI_ThreadPool_NumThreads_Args args{};
  args.struct_size = XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE;
  args.ctx = frame_->ctx;
  args.num_threads = &threads;
  if (XLA_FFI_Error* error = frame_->api->XLA_FFI_ThreadPool_NumThreads(&args)) {
    destroy(*frame_->api, error);
    return 1;
  }
  return static_cast<int>(std::max<int64_t>(threads, 1));
}

void Call::schedule(std::function<void()> task) const {
  auto owned = std::make_unique<std::function<void()>>(std::move(task));
  XLA_FFI_ThreadPool_Schedule_Args args{};
  args.struct_size = XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE;
  args.ctx = frame_->ctx;
  args.task = [](void* data) {
    const std::unique_ptr<std::function<void()>> run(static_cast<std::function<void()>*>(data));
    (*run)();
  };
  args.data = owned.get();
  if (XLA_FFI_Error* error = frame_->api->XLA_FFI_ThreadPool_Schedule(&args)) {
    raise(*frame_->api, error, "kernel: no thread pool");
  }
  owned.release();
}

namespace {

std::atomic<Observer> g_observer = nullptr;

// Notifies the observer when the kernel is done.
class Observed {
 public:
  explicit Observed(XLA_FFI_Handler* kernel) : kernel_(kernel), observer_(g_observer) {
    if (observer_ != nullptr) begin_ = std::chrono::steady_clock::now();
  }
  ~Observed() {
    if (observer_ != nullptr) observer_(kernel_, begin_, std::chrono::steady_clock::now());
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  XLA_FFI_Handler* kernel_;
  Observer observer_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace

void observe_kernels(Observer observer) { g_observer = observer; }

XLA_FFI_Error* internal::run(XLA_FFI_CallFrame* frame, Body body,
                             XLA_FFI_Handler* kernel) noexcept {
  for (auto* extension = frame->extension_start; extension != nullptr;
       extension = extension->next) {
    if (is_metadata(*extension)) {
      answer_metadata(*frame, *reinterpret_cast<XLA_FFI_Metadata_Extension*>(extension)->metadata);
      return nullptr;
    }
  }
  if (frame->stage != XLA_FFI_ExecutionStage_EXECUTE) return nullptr;
  const Observed observed(kernel);
  try {
    body(Call(*frame));
    return nullptr;
  } catch (const std::exception& error) {
    return make_error(*frame->api, error.what());
  } catch (...) {
    return make_error(*frame->api, "unknown exception in a kernel");
  }
}

}  // namespace hum::pjrt::ffi
