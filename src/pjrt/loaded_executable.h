// A compiled program on its devices, ready to run.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/buffer.h"
#include "pjrt/client.h"
#include "pjrt/compile_options.h"
#include "pjrt/event.h"
#include "pjrt/executable.h"

namespace hum::pjrt {

class LoadedExecutable {
 public:
  // stablehlo: module text. Throws the compiler's own error text.
  static LoadedExecutable compile(std::shared_ptr<const Client> client, std::string_view stablehlo,
                                  const CompileOptions& options);
  // Loads bytes of Executable::serialize() from the same plugin on the same kind of machine.
  // Absent, with the reason in `why_not`, if the plugin rejects them.
  static std::optional<LoadedExecutable> try_deserialize(std::shared_ptr<const Client> client,
                                                         std::string_view bytes,
                                                         const CompileOptions& options,
                                                         std::string& why_not);

  // The results of one run: outputs by [device][result], and one event per device. Outputs may be
  // used (and passed on) before they are ready.
  struct Run {
    std::vector<std::vector<Buffer>> outputs;
    std::vector<Event> done;
    // Throws the first failure of any device.
    void await() const;
  };
  using Arguments = std::vector<std::vector<const Buffer*>>;
  // arguments: [device][parameter], in the order of CompileOptions::device_ids. Donated arguments
  // (tf.aliasing_output, jax.buffer_donor) are deleted, except those in `keep`.
  Run execute(std::span<const std::vector<const Buffer*>> arguments,
              std::span<const int64_t> keep = {}) const;

  const Executable& executable() const { return executable_; }
  int device_count() const { return device_count_; }
  int output_count() const { return output_count_; }

 private:
  LoadedExecutable(std::shared_ptr<const Client> client, PJRT_LoadedExecutable* loaded,
                   const CompileOptions& options);
  struct Deleter {
    std::shared_ptr<const Client> client;
    void operator()(PJRT_LoadedExecutable* executable) const;
  };
  const std::shared_ptr<const Client>& client() const { return loaded_.get_deleter().client; }
  std::unique_ptr<PJRT_LoadedExecutable, Deleter> loaded_;
  Executable executable_;
  int device_count_;
  int output_count_;
};

}  // namespace hum::pjrt
