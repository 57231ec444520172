// Holds a model with its stored weights on the device for programs. Thread-safe after construction.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "base/error.h"
#include "runtime/bind.h"
#include "runtime/session.h"
#include "runtime/weights.h"

namespace hum::models {

// Model: has config(), parameters(), and a constructor from its configuration.
template <typename Model>
class StoredModel {
 public:
  using HostTensor = runtime::HostTensor;

  // The session must outlive it. Throws: kNoInput without weights, kBadData when they are damaged
  // or not of `model_type`, kConfig when the sizes of a model that hum trains do not fit.
  StoredModel(runtime::Session& session, const std::filesystem::path& folder,
              const char* model_type)
      : session_(session) {
    const runtime::Weights stored = runtime::read_weights(folder);
    std::remove_cvref_t<decltype(std::declval<const Model&>().config())> config;
    runtime::read_model_config(stored, model_type, folder, config);
    const Bounds bounds("model.");
    if constexpr (requires { validate(config, bounds); }) validate(config, bounds);
    model_.emplace(config);
    host_ = runtime::bind(model_->parameters().values(), stored.tensors, folder);
    for (const HostTensor& tensor : host_) device_.push_back(session.view_on_device(tensor));
  }

  const Model& model() const { return *model_; }
  // In the order of the model's parameters.
  const std::vector<HostTensor>& weights() const { return host_; }
  const HostTensor& weight(std::string_view name) const {
    for (size_t i = 0; i < host_.size(); ++i) {
      if (model_->parameters().all()[i].name == name) return host_[i];
    }
    fail(ExitCode::kFailure, fmt::format("the model has no parameter {}", name));
  }

  // Compiles a program of the model's parameters and `inputs`.
  runtime::Executable compile(const char* name, const graph::Values& inputs,
                              graph::Values results) const {
    graph::Function function{.name = name, .parameters = model_->parameters().values()};
    function.parameters.insert(function.parameters.end(), inputs.begin(), inputs.end());
    function.results = std::move(results);
    return session_.compile(name, function);
  }
  // Returns the program's first result.
  HostTensor run(const runtime::Executable& program,
                 const std::vector<const HostTensor*>& inputs) const {
    return session_.to_host(run_all(program, inputs)[0]);
  }
  // Returns all results, on the device.
  std::vector<runtime::Tensor> run_all(const runtime::Executable& program,
                                       const std::vector<const HostTensor*>& inputs) const {
    std::vector<runtime::Tensor> arguments = device_;
    for (const HostTensor* input : inputs) arguments.push_back(session_.to_device(*input));
    return program.run(arguments);
  }

 private:
  runtime::Session& session_;
  std::optional<Model> model_;
  std::vector<HostTensor> host_;
  std::vector<runtime::Tensor> device_;  // views of host_
};

}  // namespace hum::models
