#include "tests/serve/service.h"

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "serve/client/remote_job.h"
#include "tests/serve/running_service.h"

namespace hum::serve {

namespace fs = std::filesystem;

fs::path hum_program() { return HUM_PROGRAM; }

std::map<std::string, std::string> hum_environment(bool has_tiny_weights) {
  std::map<std::string, std::string> environment = {{"HUM_CACHE", HUM_E2E_CACHE}};
  if (has_tiny_weights) environment["HUM_WEIGHTS"] = tiny_weights().string();
  return environment;
}

std::unique_ptr<Process> run_hum(const std::vector<std::string>& arguments, const fs::path& log,
                                 const fs::path& out) {
  std::vector<std::string> command = {hum_program().string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return std::make_unique<Process>(
      command, ProcessOptions{.environment = hum_environment(), .out = out, .err = log});
}

fs::path example_recording() { return source_folder() / "examples/vocadito_10.wav"; }

void ServiceTest::start(int workers, int port) {
  server_ = run_hum({"serve", "--listen", fmt::format("127.0.0.1:{}", port), "--data",
                     data_.string(), "--workers", std::to_string(workers), "--json"},
                    log());
  const std::string line = server_->first_line();
  ASSERT_NE(line, "") << read_file(log());
  port_ = parse_json(line)["port"];
}

void ServiceTest::wait_until_ready() {
  ASSERT_TRUE(eventually([&] { return ask("GET", "/ready").status == 200; })) << read_file(log());
}

testing::Answer ServiceTest::ask(const std::string& method, const std::string& target,
                                 const std::string& headers, const std::string& body) const {
  return testing::TestClient(port_).ask(method, target, headers, body);
}

Json ServiceTest::job(const std::string& id) const {
  const auto answer = ask("GET", "/v1/jobs/" + id);
  EXPECT_EQ(answer.status, 200) << answer.body;
  return parse_json(answer.body);
}

std::string ServiceTest::upload(const fs::path& recording, const std::string& part) const {
  FormWriter form;
  form.file(part, read_file(recording));
  const auto answer = ask("POST", "/v1/uploads", form.content_type() + "\r\n", form.body());
  EXPECT_EQ(answer.status, 201) << answer.body;
  return parse_json(answer.body)["id"];
}

std::string ServiceTest::begin(const Json& request) const {
  const auto answer =
      ask("POST", "/v1/jobs", "Content-Type: application/json\r\n", to_text(request));
  EXPECT_EQ(answer.status, 202) << answer.body;
  return parse_json(answer.body)["id"];
}

Json ServiceTest::finish(const std::string& id) const {
  Json last;
  const bool is_over = eventually([&] {
    last = job(id);
    return has_ended(last);
  });
  EXPECT_TRUE(is_over) << to_text(last) << read_file(log());
  return last;
}

bool ServiceTest::wait_for_stage(const std::string& id, const std::string& stage) const {
  bool is_seen = false;
  const auto has_come = [&] {
    const Json now = job(id);
    is_seen = now.value("stage", "") == stage;
    return is_seen || has_ended(now);
  };
  EXPECT_TRUE(eventually(has_come)) << read_file(log());
  return is_seen;
}

std::string ServiceTest::result(const std::string& id, const std::string& name) const {
  const auto answer = ask("GET", "/v1/jobs/" + id + "/results/" + name);
  EXPECT_EQ(answer.status, 200) << answer.body;
  return answer.body;
}

std::string ServiceTest::generated(const std::vector<std::string>& flags) {
  const fs::path out = scratch_.path() / "generated.wav";
  std::vector<std::string> arguments = {"generate", example_recording().string(), "-o",
                                        out.string()};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  EXPECT_EQ(run_hum(arguments, log())->wait(), 0) << read_file(log());
  return read_file(out);
}

}  // namespace hum::serve
