// Registers hum's kernels with a plugin, so that custom calls in compiled programs can call them.
#pragma once

#include <xla/ffi/api/c_api.h>

#include <span>

#include "pjrt/plugin.h"

namespace hum::pjrt {

// One kernel: its custom-call target, its version (part of the compile cache's key) and its entry
// point (from ffi::handler, pjrt/ffi.h).
struct KernelRow {
  const char* name;
  int version;
  XLA_FFI_Handler* handler;
};

// Registers all rows on `platform`; call it before compiling a program that uses them. The plugin
// keeps them for the life of the process; registering the same row again does nothing. Throws:
// kUnavailable if the plugin has no FFI extension, kFailure if two rows have the same name.
void register_handlers(const Plugin& plugin, std::span<const KernelRow> rows,
                       const char* platform = "HOST");

}  // namespace hum::pjrt
