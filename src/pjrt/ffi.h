// For writing kernels: turns a plain C++ function into an XLA FFI handler.
//
//   void scale(const ffi::Call& call) {
//     const auto x = call.argument(0).as<const float>();
//     const auto y = call.result(0).as<float>();
//     const auto factor = static_cast<float>(call.attributes().real("factor"));
//     for (size_t i = 0; i < x.size(); ++i) y[i] = factor * x[i];
//   }
//   inline constexpr pjrt::KernelRow kScale{"hum.scale", 1, &ffi::handler<scale>};
//
// Handlers run concurrently on several threads, in any order, and must not keep state between
// calls.
#pragma once

#include <xla/ffi/api/c_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>

namespace hum::pjrt::ffi {

// A bfloat16 as its bits.
using BFloat16Bits = uint16_t;

template <typename T>
constexpr XLA_FFI_DataType data_type() {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, float>) return XLA_FFI_DataType_F32;
  if constexpr (std::is_same_v<U, BFloat16Bits>) return XLA_FFI_DataType_BF16;
  if constexpr (std::is_same_v<U, int32_t>) return XLA_FFI_DataType_S32;
  if constexpr (std::is_same_v<U, uint32_t>) return XLA_FFI_DataType_U32;
  if constexpr (std::is_same_v<U, uint8_t>) return XLA_FFI_DataType_U8;
  if constexpr (std::is_same_v<U, bool>) return XLA_FFI_DataType_PRED;
}

// An argument or a result: row-major elements on the device, owned by XLA. A result may share
// memory with an argument if the custom call declares it (output_operand_aliases).
class Array {
 public:
  explicit Array(const XLA_FFI_Buffer& buffer) : buffer_(&buffer) {}

  XLA_FFI_DataType dtype() const { return buffer_->dtype; }
  bool is_bf16() const { return dtype() == XLA_FFI_DataType_BF16; }
  std::span<const int64_t> dims() const {
    return {buffer_->dims, static_cast<size_t>(buffer_->rank)};
  }
  // The size of a dimension; negative dims count from the end. Throws if out of range.
  int64_t size(int dim) const;
  int64_t elements() const;
  void* data() const { return buffer_->data; }
  // The elements as T (const T for arguments). Throws if their type differs.
  template <typename T>
  std::span<T> as() const {
    require(data_type<T>());
    return {static_cast<T*>(buffer_->data), static_cast<size_t>(elements())};
  }

 private:
  void require(XLA_FFI_DataType wanted) const;
  const XLA_FFI_Buffer* buffer_;
};

// The custom call's dictionary. Each getter throws, naming the attribute, if it is absent or of
// another kind.
class Attributes {
 public:
  explicit Attributes(const XLA_FFI_Attrs& attributes) : attributes_(&attributes) {}

  bool contains(std::string_view name) const;
  int64_t integer(std::string_view name) const;  // any integer type
  double real(std::string_view name) const;      // f32 or f64
  bool flag(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  std::span<const int64_t> integers(std::string_view name) const;  // array<i64: ...>
  Attributes dictionary(std::string_view name) const;

 private:
  const void* find(std::string_view name, XLA_FFI_AttrType type) const;
  const XLA_FFI_Scalar& scalar(std::string_view name) const;
  const XLA_FFI_Attrs* attributes_;
};

// One call of a kernel; valid while the kernel runs.
class Call {
 public:
  explicit Call(XLA_FFI_CallFrame& frame) : frame_(&frame) {}

  int argument_count() const { return static_cast<int>(frame_->args.size); }
  int result_count() const { return static_cast<int>(frame_->rets.size); }
  // Throws if there is no such argument.
  Array argument(int i) const;
  Array result(int i) const;
  Attributes attributes() const { return Attributes(frame_->attrs); }
  // The device's stream (CUDA: CUstream). Throws on CPU, which has none.
  void* stream() const;
  // Number of threads of the pool that runs the program (CPU); 1 if the plugin lends none.
  int pool_threads() const;
  // Runs the task on that pool: at any time, possibly after this call has returned.
  void schedule(std::function<void()> task) const;

 private:
  XLA_FFI_CallFrame* frame_;
};

// Is notified of every kernel that ran on this process's CPU; `kernel` is the handler of its
// KernelRow.
using Observer = void (*)(XLA_FFI_Handler* kernel, std::chrono::steady_clock::time_point begin,
                          std::chrono::steady_clock::time_point end);
// One observer per process, since the plugin does not say for whom it calls a kernel; null: none.
void observe_kernels(Observer observer);

namespace internal {
using Body = void (*)(const Call&);
// Answers XLA's API version query, or runs `body` and turns exceptions into an XLA_FFI_Error.
// `kernel`: the entry point that was called.
XLA_FFI_Error* run(XLA_FFI_CallFrame* frame, Body body, XLA_FFI_Handler* kernel) noexcept;
}  // namespace internal

// The entry point of a kernel, for KernelRow.
template <internal::Body kBody>
XLA_FFI_Error* handler(XLA_FFI_CallFrame* frame) {
  return internal::run(frame, kBody, &handler<kBody>);
}

}  // namespace hum::pjrt::ffi
