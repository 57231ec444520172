// Registers our kernels with a plugin, so that custom calls in compiled programs reach them.
#pragma once

#include <xla/ffi/api/c_api.h>

#include <span>

#include "pjrt/plugin.h"

namespace hum::pjrt {

// One kernel: its custom-call target, its version (part of the compile cache's key) and its entry
// point (made by ffi::handler, pjrt/ffi.h).
struct KernelRow {
  const char* name;
  int version;
  XLA_FFI_Handler* handler;
};

// Registers all rows on `platform`; must happen before a program that uses them is compiled. The
// plugin keeps them for the life of the process; registering the same row again does nothing.
// Throws: kUnavailable when the plugin has no FFI extension, kFailure when two rows have one name.
void register_handlers(const Plugin& plugin, std::span<const KernelRow> rows,
                       const char* platform = "HOST");

}  // namespace hum::pjrt
