// Sends wrong requests and judges the answers.
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "serve/http/test_client.h"
#include "tests/serve/fuzz_cases.h"

namespace hum::serve {
namespace {

// As many as the server has sounds in its decoders at once: more would be refused for a while.
constexpr int kClients = 4;

struct FuzzAnswer {
  std::string fault;  // what is wrong with it; empty: nothing
  std::string made;   // path of the job or upload that it made
};

// What is wrong with a refusal, which must say why.
std::string fault_of_problem(const testing::Answer& answer) {
  const auto type = answer.headers.find("content-type");
  if (type == answer.headers.end() || type->second != "application/problem+json") {
    return "the refusal is no application/problem+json";
  }
  const Json problem = try_parse_json(answer.body);
  const bool is_right = problem.is_object() && problem.value("status", 0) == answer.status &&
                        !problem.value("detail", "").empty();
  return is_right ? "" : "the refusal does not say why: " + answer.body;
}

std::string fault_of(const FuzzCase& one, const testing::Answer& answer) {
  const int status = answer.status;
  if (!answer.whole) return fmt::format("the answer {} is not whole", status);
  const bool is_refusal = status >= 400;
  const bool is_expected = one.status == kValidOrRefused ? status >= 200 && status < 500
                           : one.status == kRefused4xx   ? status >= 400 && status < 500
                                                         : status == one.status;
  if (!is_expected) return fmt::format("the answer is {}: {}", status, answer.body.substr(0, 300));
  if (is_refusal) return fault_of_problem(answer);
  const auto type = answer.headers.find("content-type");
  const bool is_json = type != answer.headers.end() && type->second == "application/json";
  return is_json && try_parse_json(answer.body).is_discarded() ? "the result is broken JSON" : "";
}

// The answer must come within ten seconds, or half a minute if the request carries a sound.
FuzzAnswer send_fuzz_case(const FuzzCase& one, int port) {
  testing::TestClient client(port);
  client.send(one.request);
  if (one.is_cut) ::shutdown(client.descriptor(), SHUT_WR);
  constexpr size_t kSoundBytes = 10'000;
  if (one.request.size() > kSoundBytes) client.receive(std::chrono::seconds(30));
  const testing::Answer answer = client.read_answer();
  FuzzAnswer result;
  if (answer.status == 0) {
    // Nobody waits for an answer to a request that was cut.
    const bool has_ended = one.is_cut && client.wait_for_end();
    result.fault = has_ended ? "" : "there is no answer";
    return result;
  }
  result.fault = fault_of(one, answer);
  const auto place = answer.headers.find("location");
  if (place != answer.headers.end()) result.made = place->second;
  return result;
}

// Sends it and removes what it made. Returns what is wrong; empty: nothing.
std::string try_case(const FuzzCase& one, int port) {
  const FuzzAnswer answer = send_fuzz_case(one, port);
  if (!answer.fault.empty() || answer.made.empty()) return answer.fault;
  const int status = testing::TestClient(port).ask("DELETE", answer.made).status;
  return status == 204 ? "" : fmt::format("what it made is not removed: {}", status);
}

}  // namespace

std::vector<std::string> send_fuzz_cases(const std::vector<FuzzCase>& cases, int port) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::vector<std::string> faults;
  std::vector<std::jthread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      for (size_t at = next++; at < cases.size(); at = next++) {
        const std::string fault = try_case(cases[at], port);
        if (fault.empty()) continue;
        const std::scoped_lock lock(mutex);
        faults.push_back(cases[at].name + ": " + fault);
      }
    });
  }
  clients.clear();  // waits for them
  return faults;
}

}  // namespace hum::serve
