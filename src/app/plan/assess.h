// The options and the report of `hum plan assess`.
#pragma once

#include <string>

#include "app/plan/cluster_outlook.h"
#include "base/json.h"
#include "plan/assessment.h"

namespace hum::app {

// A transformer and the graph of its training step after the passes.
struct AssessedModel {
  plan::Transformer shape;
  graph::Function step;
};
// `name`: one that the planner knows, a Hugging Face config.json, or a configuration of hum's
// coarse LM (a YAML file, coarse, tiny). sequence 0: the model's longest. Throws kUsage: unknown
// names; hum's other models, which are not transformers.
AssessedModel assessed_model(const std::string& name, int64_t sequence);

struct Assessed {
  std::string model;
  plan::Transformer shape;
  plan::Market market;
  plan::Option from, to;
  plan::Assessment assessment;
};

// {"model", "from", "to", "verdict", "operators", "thresholds", "changes", "migration", "risks",
// "stages"}: docs/formats/assessment.md.
Json assessment_report(const Assessed& assessed);
// The report as one page. HTML: no scripts and nothing from the network; prints on A4.
std::string assessment_markdown(const Json& report);
std::string assessment_page(const Json& report);

struct AssessOptions {
  std::string model, from, to;  // from, to: hardware:nodes
  std::string output;           // the page, .html or .md; empty: none
  std::string hardware_file;    // empty: hum's own
  int64_t seq = 0;              // tokens per sequence; 0: the model's longest
  plan::Market market;
  plan::Situation situation;
};

struct AssessedPage {
  Json report;
  std::string page;  // HTML if the output is .html, else Markdown
};

// Assesses the move, and writes the page if an output is given. Throws: kUsage for an output other
// than .html or .md; kCannotCreate, before any work; what assessed_model and reading the files
// throw.
AssessedPage assess(const AssessOptions& options);

}  // namespace hum::app
