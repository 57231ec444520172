#include "serve/client/remote_job.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "app/stop.h"
#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using std::chrono::milliseconds;

constexpr milliseconds kFirstPoll{100}, kLongestPoll{1000}, kStopPoll{50};
// The server decodes the sounds before it answers; a stream waits for the worker.
constexpr std::chrono::seconds kDecodeTimeout{300}, kStreamTimeout{300};
constexpr int kStreamAttempts = 8;

// Passes a stop signal on to what waits for a token.
class StopSignal {
 public:
  StopSignal()
      : thread_([this](const std::stop_token& is_over) {
          while (!is_over.stop_requested()) {
            if (app::stop_signal() != 0) source_.request_stop();
            std::this_thread::sleep_for(kStopPoll);
          }
        }) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread thread_;  // last: it uses the source
};

// The text as one word of a shell's command, in quotes where it needs them.
std::string shell_word(const std::string& text) {
  const bool is_plain = std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./:@%+=,").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain && !text.empty()) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

// Follows one job on the server.
class RemoteJob {
 public:
  RemoteJob(const ClientOptions& options, const std::function<void(const Json&)>& changed)
      : options_(options), changed_(changed), client_(access(), options.patience, stop_.token()) {
    client_.on_wait([this](const Waiting& waiting) { tell(waiting); });
  }
  // Removes the job if the user does not want it any more.
  ~RemoteJob() {
    const bool is_unwanted = app::stop_signal() != 0 || !takes_stream_;
    if (is_unwanted && !id_.empty() && !has_ended_) remove();
  }
  RemoteJob(const RemoteJob&) = delete;
  RemoteJob& operator=(const RemoteJob&) = delete;

  // Sends it, waits for its end, and fetches what `output` asks for. Returns the job with the
  // files. Throws: kBadData if it failed.
  Json run(const Json& sent, const std::optional<Output>& output);

 private:
  ServerAccess access() const {
    ServerAccess access = options_.server;
    if (access.key.empty()) access.key = env_string("HUM_KEY");
    return access;
  }
  std::string path() const { return "/v1/jobs/" + id_; }
  void start(const Json& sent);
  // Until it has ended; returns it.
  Json follow();
  // Fetches what `output` asks for; returns the files.
  std::vector<std::string> fetch(const Json& job, const Output& output);
  void remove() const;
  void tell(const Waiting& waiting) const;
  // What to do when the server stays away: the job is not lost.
  std::string way_back() const;
  // A command for the user's shell that asks for this path.
  std::string curl(const std::string& flags, const std::string& path) const;
  bool read_stream();
  void fetch_file(const std::string& name, const fs::path& file);

  const ClientOptions& options_;
  const std::function<void(const Json&)>& changed_;
  StopSignal stop_;
  Client client_;
  std::string id_;
  bool has_ended_ = false;
  bool takes_stream_ = true;  // false: stdout takes no more of it
  int64_t streamed_bytes_ = 0;
};

void RemoteJob::tell(const Waiting& waiting) const {
  Json state = {{"status", waiting.is_lost ? "lost" : "busy"},
                {"detail", waiting.reason},
                {"pause_s", std::chrono::duration<double>(waiting.pause).count()},
                {"patience_s", std::chrono::duration<double>(waiting.patience).count()}};
  if (!id_.empty()) state["id"] = id_;
  changed_(state);
}

void RemoteJob::remove() const {
  const HttpAnswer answer = Client(access()).send({.method = "DELETE", .path = path()});
  const bool is_gone = answer.status / 100 == 2 || answer.status == 404;
  if (answer.failure.empty() && is_gone) return;
  const std::string reason =
      answer.failure.empty() ? fmt::format("answers HTTP {}", answer.status) : "does not answer";
  spdlog::warn("the server {} and keeps job {}; to remove it: {}", reason, id_,
               curl("-X DELETE", path()));
}

std::string RemoteJob::way_back() const {
  return fmt::format("the server keeps job {}; when it answers again, fetch the results: {}", id_,
                     curl("-o results.zip", path() + "/results/all.zip"));
}

std::string RemoteJob::curl(const std::string& flags, const std::string& path) const {
  const ServerAccess server = access();
  std::string command = "curl " + flags;
  if (!server.key.empty()) command += " -H \"Authorization: Bearer $HUM_KEY\"";
  if (!server.ca.empty()) command += " --cacert " + shell_word(server.ca);
  return command + " " + shell_word(client_.url() + path);
}

Json RemoteJob::run(const Json& sent, const std::optional<Output>& output) {
  try {
    start(sent);
    Json job = follow();
    job["files"] = output ? Json(fetch(job, *output)) : Json::array();
    return job;
  } catch (const Json::exception&) {  // a value that is missing, or of another type
    client_.fail_unlike_hum();
  }
}

void RemoteJob::start(const Json& sent) {
  FormWriter form;
  form.text("task", to_name(options_.task)).text("options", to_text(sent));
  form.file("audio", read_file(options_.recording));
  if (!options_.timbre.empty()) form.file("timbre", read_file(options_.timbre));
  if (!options_.backing.empty()) form.file("backing", read_file(options_.backing));
  changed_({{"status", "sending"}});
  const std::string body = form.body();
  const Json accepted =
      client_.ask_json({.method = "POST",
                        .path = "/v1/jobs",
                        .headers = {form.content_type(), "Idempotency-Key: " + new_id()},
                        .body = body,
                        .stall_timeout = kDecodeTimeout});
  id_ = accepted.value("id", "");
  if (id_.empty()) fail(ExitCode::kBadData, client_.url() + " accepted the job without an id");
  client_.set_hint(way_back());
}

Json RemoteJob::follow() {
  milliseconds wait = kFirstPoll;
  bool needs_stream = options_.stream;
  for (int stream_attempts = 0;;) {
    Json job = client_.ask_json({.path = path()});
    changed_(job);
    has_ended_ = has_ended(job);
    if (has_ended_ && job["status"] != "done") {
      const Json error = job["error"].is_object() ? job["error"] : Json::object();
      fail(ExitCode::kBadData, error.value("detail", "the job was removed from the server"),
           error.value("hint", "send it again"));
    }
    if (needs_stream && (has_ended_ || job["stage"] == "play" || job["stage"] == "write")) {
      needs_stream = !read_stream();
      if (needs_stream && ++stream_attempts == kStreamAttempts) {
        fail(ExitCode::kTemporary, "the stream broke off", way_back());
      }
    }
    if (has_ended_ && !needs_stream) return job;
    client_.pause(wait);
    wait = std::min(wait * 5 / 4, kLongestPoll);
  }
}

// Writes what follows to stdout; after a lost connection it skips what is there already, since a
// repeated stream has the same bytes. False if it ended early.
bool RemoteJob::read_stream() {
  const auto new_sink = [this] {
    return [this, position = int64_t{0}](std::string_view bytes) mutable {
      const int64_t known = std::clamp<int64_t>(streamed_bytes_ - position, 0, std::ssize(bytes));
      position += std::ssize(bytes);
      bytes.remove_prefix(static_cast<size_t>(known));
      takes_stream_ = false;
      write_bytes(stdout, bytes, "the stream");
      takes_stream_ = true;
      streamed_bytes_ += std::ssize(bytes);
    };
  };
  const HttpAnswer answer = client_.send({.path = path() + "/results/stream.wav",
                                          .stall_timeout = kStreamTimeout,
                                          .new_sink = new_sink});
  return answer.failure.empty() && answer.status == 200;
}

void RemoteJob::fetch_file(const std::string& name, const fs::path& file) {
  std::optional<AtomicFile> part;
  const auto new_sink = [&] {
    part.reset();
    part.emplace(file);
    return [&part](std::string_view bytes) { part->write(bytes); };
  };
  client_.ask({.path = path() + "/results/" + name, .new_sink = new_sink});
  part->commit();
}

// A server must not choose where its results go.
std::string checked_name(const Json& result) {
  std::string name = result.value("name", "");
  const bool is_plain =
      !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
      });
  if (is_plain) return name;
  fail(ExitCode::kBadData, "the server names a result '" + name + "', which is not a plain name",
       "check that --server is the address of a hum serve");
}

std::vector<std::string> RemoteJob::fetch(const Json& job, const Output& output) {
  std::vector<std::pair<std::string, fs::path>> wanted;
  if (output.is_folder) {
    for (const Json& result : job.at("results")) {
      const std::string name = checked_name(result);
      wanted.emplace_back(name, output.path / name);
    }
  } else if (!output.result.empty()) {
    wanted.emplace_back(output.result, output.path);
  } else if (!job.at("results").empty()) {
    wanted.emplace_back(checked_name(job.at("results").at(0)), output.path);
  }
  std::vector<std::string> files;
  for (const auto& [name, file] : wanted) {
    fetch_file(name, file);
    files.push_back(file.string());
  }
  return files;
}

}  // namespace

bool has_ended(const Json& job) {
  const std::string status = job.value("status", "");
  return status != "queued" && status != "running";
}

Json run_remote_job(const ClientOptions& options,
                    const std::function<void(const Json& job)>& changed) {
  const auto [output, sent] = checked_request(options);
  std::optional<OutputFolder> folder;
  if (output && output->is_folder) folder.emplace(output->path);
  if (output && !output->is_folder) require_writable(output->path);
  return RemoteJob(options, changed).run(sent, output);
}

}  // namespace hum::serve
