// The planner from the shell's side: figures as JSON, pictures, exit codes, what is refused.
#include <gmock/gmock.h>

#include "base/folders.h"
#include "base/json.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using Words = std::vector<std::string>;

std::string data(const std::string& name) {
  return (source_folder() / "tests/data/planner" / name).string();
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words kLlama = {"plan", "--model", "llama-7b", "--batch", "1024", "--tokens", "1e12"};
const Words kCompare = {"plan", "compare", "--model", "llama-7b", "--tokens", "1e12"};

class Plan : public Program {
 protected:
  Json json(const Words& arguments, int code = 0) {
    const Outcome run = run_hum(arguments + Words{"--json"});
    EXPECT_EQ(run.code, code) << run.err;
    return run.code == code ? parse_json(run.out) : Json();
  }
  void expect_refused(const Words& arguments, int code, const std::string& text,
                      const std::string& hint) {
    SCOPED_TRACE(text);
    const Outcome run = run_hum(arguments, {.environment = {{"HUM_LOG", "warn"}}});
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_THAT(run.err, AllOf(StartsWith("hum: error: "), HasSubstr(text), HasSubstr("\nhint: "),
                               HasSubstr(hint)));
    EXPECT_EQ(run.out, "");
  }
};

int64_t count(const std::string& text, const std::string& what) {
  int64_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST_F(Plan, TakesTheUsualNodeOfAFamilyAndSaysSo) {
  const Outcome run = run_hum(kLlama + Words{"--cluster", "trn1:16"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, AllOf(HasSubstr("16 x trn1.32xlarge"), HasSubstr("MFU"), HasSubstr("$")));
  EXPECT_THAT(run.err, HasSubstr("trn1: using trn1.32xlarge"));
  EXPECT_EQ(json(kLlama + Words{"--cluster", "p4d:16"})["hardware"], "p4d.24xlarge");
  EXPECT_EQ(json(kLlama + Words{"--cluster", "g5:16"})["hardware"], "g5.48xlarge");
}

TEST_F(Plan, DrawsEveryLayoutThatFits) {
  const Json plan = json(
      kLlama + Words{"--cluster", "trn1.32xlarge:16", "--search", "--plot", path("front.svg")});
  const std::string svg = read("front.svg");
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, AllOf(HasSubstr("step time, s"), HasSubstr("memory per device, GB"),
                         HasSubstr("cost of the run, 1000 $"), HasSubstr("device memory")));
  int64_t front = 0;
  for (const auto& layout : plan["layouts"]["fitting"]) front += layout["pareto"].get<bool>();
  const auto fitting = static_cast<int64_t>(plan["layouts"]["fitting"].size());
  EXPECT_GT(front, 3);
  EXPECT_EQ(count(svg, "<circle"), fitting + 2);  // two in the key
  EXPECT_EQ(count(svg, "class=\"leader\""), front);
  EXPECT_EQ(count(svg, "nan"), 0);
}

TEST_F(Plan, LabelsOfAPictureDoNotOverlap) {
  ASSERT_EQ(run_hum(kLlama + Words{"--cluster", "trn1.32xlarge:16", "--plot", path("a.svg")}).code,
            0);
  const std::string svg = read("a.svg");
  const std::string label = "<text x=\"632.0\" y=\"";
  double last = 0;
  int labels = 0;
  for (size_t at = 0; (at = svg.find(label, at)) != std::string::npos;) {
    at += label.size();
    if (svg.substr(svg.find('>', at), 4) != ">tp ") continue;
    const double y = std::stod(svg.substr(at));
    EXPECT_GE(y, last + 15.8);
    last = y;
    ++labels;
  }
  EXPECT_GT(labels, 3);
}

TEST_F(Plan, PredictSumsUpItsErrors) {
  const Json report = json({"plan", "predict", data("a100_megatron_sc21.csv")});
  ASSERT_TRUE(report.contains("summary"));
  const Json& summary = report["summary"];
  EXPECT_LT(summary["mape_percent"], 8);
  EXPECT_LT(summary["mape_percent"], summary["worst_percent"]);
  EXPECT_LE(std::abs(summary["bias_percent"].get<double>()), summary["mape_percent"]);
  EXPECT_GT(summary["rank_correlation"], 0.9);
}

TEST_F(Plan, CalibrationsOfOnesOwnAreUsed) {
  const Outcome made = run_hum({"plan", "calibrate", data("a100_megatron_sc21.csv"), "--hardware",
                                "a100", "-o", path("own.json")});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("a100_megatron_sc21.csv"));
  const Words own = {"--calibration", path("own.json")};
  const Words predict = {"plan", "predict", data("a100_megatron_sc21.csv"), "--hardware", "a100"};
  EXPECT_LT(json(predict + own)["summary"]["mape_percent"],
            json(predict)["summary"]["mape_percent"]);
  write("borrower.csv",
        "hardware,hidden,layers,heads,tp,pp,gpus,global_batch,micro_batch,seq\n"
        "a10g,2304,24,24,1,1,32,512,1,2048\n");
  EXPECT_EQ(json(Words{"plan", "predict", path("borrower.csv")} + own)["hardware"], "a10g");
  const Words clusters = {"p4d:16", "trn1:16"};
  const Json by_hum = json(kCompare + clusters), by_own = json(kCompare + clusters + own);
  EXPECT_NE(by_own["clusters"][0]["step_s"], by_hum["clusters"][0]["step_s"]);
  EXPECT_EQ(by_own["clusters"][1]["step_s"], by_hum["clusters"][1]["step_s"]);
  expect_refused(kCompare + Words{"trn1:16"} + own, 2, "is for a100, but none of the clusters is",
                 "leave the calibration out");
  expect_refused(kLlama + Words{"--cluster", "trn1:16"} + own, 2, "is for a100, not for",
                 "a calibration of trn1");
}

TEST_F(Plan, ComparesAndDrawsClusters) {
  const Json report =
      json(kCompare + Words{"p4d:16", "trn1:16", "trn1:32", "--plot", path("clusters.svg")});
  EXPECT_EQ(report["clusters"][1]["cluster"], "trn1.32xlarge:16");
  EXPECT_NEAR(report["clusters"][1]["offers"]["reserved"]["node_hour"].get<double>(), 8.197, 1e-9);
  EXPECT_THAT(read("clusters.svg"), AllOf(HasSubstr("trn1.32xlarge:32"), HasSubstr("days")));
}

TEST_F(Plan, AuditEndsWithThreeWhereThePlanContradictsItself) {
  const Json wrong = json({"plan", "audit", data("audit/trn1_migration.yaml")}, 3);
  EXPECT_FALSE(wrong["consistent"].get<bool>());
  EXPECT_THAT(to_text(wrong), HasSubstr("trn1_instance_prices.csv"));  // the reserved rate
  EXPECT_TRUE(json({"plan", "audit", data("audit/consistent.sbatch")})["consistent"].get<bool>());
  write("a.yaml", "runs: {A: {hardware: trn9, nodes: 2}}");
  EXPECT_THAT(run_hum({"plan", "audit", path("a.yaml")}).err, HasSubstr("trn9 is not known"));
}

TEST_F(Plan, HelpEndsWithAnExample) {
  for (const char* command : {"", "compare", "predict", "calibrate", "audit"}) {
    Words words = {"plan"};
    if (*command != '\0') words.push_back(command);
    const Outcome run = run_hum(words + Words{"--help"});
    EXPECT_EQ(run.code, 0);
    EXPECT_THAT(run.out, HasSubstr("Example:\n  hum plan"));
  }
}

TEST_F(Plan, WhatCannotBeIsRefusedWithTheNearestThatWorks) {
  const auto on = [](const Words& more) { return Words{"plan", "--model", "llama-7b"} + more; };
  const Words trn1 = on({"--cluster", "trn1.32xlarge:16"});
  expect_refused(on({"--cluster", "trn3:16"}), 2, "unknown hardware 'trn3'", "nearest are trn");
  expect_refused(on({"--cluster", ":16"}), 2, "':16' is not a cluster", "trn1.32xlarge:16");
  expect_refused({"plan", "--model", "lama-7b", "--cluster", "trn1:16"}, 2, "no model 'lama-7b'",
                 "the nearest are llama-7b");
  expect_refused(trn1 + Words{"--batch", "0"}, 2, "a batch of 0", "sequences per step");
  expect_refused(trn1 + Words{"--seq", "-1"}, 2, "--seq -1", "longest sequence");
  expect_refused(trn1 + Words{"--tokens", "-1"}, 2, "tokens = -1", "above zero");
  expect_refused(trn1 + Words{"--tp", "3"}, 2, "tp 3 does not divide", "nearest tp that does");
  expect_refused(trn1 + Words{"--tp", "8", "--pp", "1", "--micro-batch", "7"}, 2,
                 "micro batch = 7 does not divide", "nearest micro batch that does is 8");
  expect_refused(trn1 + Words{"--tp", "1", "--pp", "1"}, 2, "no layout with these flags",
                 "--tp 1 --pp 8");
  expect_refused(trn1 + Words{"--recompute", "some"}, 2, "'some' is not one of", "auto");
  expect_refused(trn1 + Words{"--zero", "3"}, 2, "'3' is not one of", "auto");
  expect_refused(trn1 + Words{"--plot", path("a.png")}, 2, "plots are .svg", "front.svg");
  expect_refused(trn1 + Words{"--plot", path("no/a.svg")}, 73, "cannot write", "folder exists");
  EXPECT_EQ(files(), Words{});
}

TEST_F(Plan, SaysHowManyNodesAreEnough) {
  const Words gpt = {"plan", "--model", "gpt3-175b", "--batch", "1536", "--cluster"};
  const Outcome run = run_hum(gpt + Words{"p4d:1"});
  EXPECT_EQ(run.code, 2);
  const size_t hint = run.err.find("hint: p4d.24xlarge:");
  ASSERT_NE(hint, std::string::npos) << run.err;
  const size_t cluster = run.err.find(' ', hint) + 1;
  const std::string enough = run.err.substr(cluster, run.err.find(' ', cluster) - cluster);
  EXPECT_EQ(run_hum(gpt + Words{enough, "--zero", "1"}).code, 0);
  expect_refused({"plan", "--model", "llama-7b", "--seq", "4194304", "--cluster", "trn1:16"}, 2,
                 "more nodes do not help", "--seq");
}

TEST_F(Plan, TablesThatCannotBeReadAreRefused) {
  const std::string header = "hidden,layers,heads,tp,pp,gpus,global_batch,seq,iteration_s\n";
  const std::string cards = "hidden,layers,heads,tp,pp,cards,global_batch,seq,iteration_s\n";
  const std::string row = "2304,24,24,1,1,32,512,2048,";
  const auto refuse = [&](const std::string& text, const std::string& message,
                          const std::string& hint) {
    write("runs.csv", text);
    for (const Words& command : {Words{"plan", "predict"}, Words{"plan", "calibrate"}})
      expect_refused(command + Words{path("runs.csv")}, 65, message, hint);
  };
  refuse("", "no rows", "docs/formats/runs.md");
  refuse(header, "no rows", "docs/formats/runs.md");
  refuse("layers,heads\n24,24\n", "no figure for hidden", "the file has layers, heads");
  refuse(cards + row + "3\n", "no figure for gpus, nodes or dp", "a column");
  refuse(header + row + "soon\n", "runs.csv:2: 'soon' in column 'iteration_s'", "digits");
  refuse(header + row + "-3\n", "'-3' in column 'iteration_s'", "digits");
  refuse(header + "2304,24,24,1,1,32,512\n", "7 cells for 9 columns", "comma-separated");
  write("runs.csv", header + row + "\n");
  expect_refused({"plan", "calibrate", path("runs.csv")}, 65, "no run has a measured time",
                 "iteration_s");
}

}  // namespace
}  // namespace hum::e2e
