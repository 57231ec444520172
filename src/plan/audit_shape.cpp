// Rules about the model: its sizes and how they split over devices.
#include <algorithm>
#include <cmath>

#include "plan/audit_impl.h"

namespace hum::plan::internal {

namespace {

std::string subject_of(const ModelClaims& model) {
  return model.name.empty() ? "the model" : "model " + model.name;
}

// Compares all values of a figure that is stated more than once.
struct Repeats {
  Checks& checks;
  std::string subject;
  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view) {
    if constexpr (std::is_same_v<T, Stated>) {
      for (size_t i = 1; i < value.all().size(); ++i) {
        const Claim &first = value.all()[0], &other = value.all()[i];
        checks.push_back({"",
                          subject,
                          first.value == other.value,
                          {first.value, std::string(name)},
                          {other.value, std::string(name)},
                          {first.place, other.place},
                          "either one"});
      }
    }
  }
};

// Checks that `parts` divides `whole`.
void check_divides(const std::string& subject, const Stated& parts, const char* parts_name,
                   const Stated& whole, const char* whole_name, Checks& checks) {
  if (!parts || !whole) return;
  const bool divides = std::fmod(whole.value(), parts.value()) == 0;
  std::string remedy;
  constexpr double kMostTried = 1e6;
  for (double lower = std::min(parts.value(), kMostTried); lower >= 1 && remedy.empty(); --lower) {
    if (std::fmod(whole.value(), lower) == 0) remedy = fmt::format("{} = {}", parts_name, lower);
  }
  checks.push_back({"",
                    subject,
                    divides,
                    {parts.value(), parts_name},
                    {whole.value(), whole_name},
                    places(parts, whole),
                    remedy});
}

}  // namespace

std::optional<double> counted_parameters(const ModelClaims& model) {
  if (!model.hidden || !model.layers || !model.vocab || !model.heads) return std::nullopt;
  const auto whole = [](const Stated& figure) { return static_cast<int64_t>(figure.value_or(0)); };
  Transformer shape;
  shape.hidden = whole(model.hidden);
  shape.layers = whole(model.layers);
  shape.heads = whole(model.heads);
  shape.kv_heads = whole(model.kv_heads);
  shape.ffn = whole(model.ffn);
  shape.vocab = whole(model.vocab);
  shape.sequence = whole(model.positions);
  shape.gated = model.gated;
  shape.tied_embeddings = model.tied_embeddings;
  shape.learned_positions = model.learned_positions;
  return shape.parameters();
}

std::optional<double> parameters(const ModelClaims& model) {
  if (const auto counted = counted_parameters(model)) return counted;
  if (model.parameters) return model.parameters.value();
  return std::nullopt;
}

void check_stated_twice(const Facts& facts, Checks& checks) {
  for (ModelClaims model : facts.claims.models) {
    Repeats repeats{checks, subject_of(model)};
    model.visit_fields(repeats);
  }
  for (const RunFacts& run : facts.runs()) {
    RunClaims claims = run.run;
    Repeats repeats{checks, run.subject()};
    claims.visit_fields(repeats);
  }
}

void check_one_name(const Facts& facts, Checks& checks) {
  const auto& models = facts.claims.models;
  for (size_t i = 0; i < models.size(); ++i) {
    for (size_t j = i + 1; j < models.size(); ++j) {
      if (models[i].name != models[j].name) continue;
      const auto first = parameters(models[i]), second = parameters(models[j]);
      if (!first || !second) continue;
      checks.push_back(
          {"",
           subject_of(models[i]),
           is_within(*first, *second, 0.1),
           {*first, "parameters"},
           {*second, "parameters"},
           places(models[i].parameters, models[j].parameters, models[i].hidden, models[j].hidden),
           "different names"});
    }
  }
}

void check_parameters(const Facts& facts, Checks& checks) {
  for (const ModelClaims& model : facts.claims.models) {
    const auto counted = counted_parameters(model);
    if (!counted || !model.parameters) continue;
    checks.push_back({"",
                      subject_of(model),
                      is_rounded(model.parameters.value(), *counted),
                      {model.parameters.value(), "parameters"},
                      {*counted, fmt::format("parameters of {} blocks of width {}",
                                             model.layers.value(), model.hidden.value())},
                      places(model.parameters, model.layers, model.hidden, model.vocab),
                      fmt::format("{:.4g} billion", *counted / 1e9)});
  }
}

void check_heads(const Facts& facts, Checks& checks) {
  for (const ModelClaims& model : facts.claims.models) {
    check_divides(subject_of(model), model.heads, "heads", model.hidden, "width", checks);
    check_divides(subject_of(model), model.kv_heads, "key-value heads", model.heads, "heads",
                  checks);
  }
  for (const RunFacts& run : facts.runs()) {
    if (run.model == nullptr) continue;
    check_divides(run.subject(), run.run.tp, "tp", run.model->heads, "heads", checks);
  }
}

void check_layers(const Facts& facts, Checks& checks) {
  for (const RunFacts& run : facts.runs()) {
    if (run.model == nullptr) continue;
    check_divides(run.subject(), run.run.pp, "pp", run.model->layers, "layers", checks);
  }
}

void check_positions(const Facts& facts, Checks& checks) {
  for (const ModelClaims& model : facts.claims.models) {
    if (!model.positions || !model.frames_per_second || !model.seconds) continue;
    const double frames = model.frames_per_second.value() * model.seconds.value();
    const double positions = model.positions.value();
    checks.push_back({"",
                      subject_of(model),
                      frames <= positions,
                      {positions, "positions"},
                      {frames, fmt::format("frames in {} s at {} per second", model.seconds.value(),
                                           model.frames_per_second.value())},
                      places(model.positions, model.seconds, model.frames_per_second),
                      fmt::format("{} positions, or {:.1f} s", frames,
                                  positions / model.frames_per_second.value())});
  }
  for (const RunFacts& run : facts.runs()) {
    if (run.model == nullptr || !run.model->positions || !run.run.sequence) continue;
    const double positions = run.model->positions.value(), sequence = run.run.sequence.value();
    checks.push_back({"",
                      run.subject(),
                      sequence <= positions,
                      {sequence, "tokens per sequence"},
                      {positions, "positions"},
                      places(run.run.sequence, run.model->positions),
                      fmt::format("sequences of {} tokens", positions)});
  }
}

}  // namespace hum::plan::internal
