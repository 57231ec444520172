// The two processes of the service. `hum serve` runs the server with its workers as children,
// `hum worker` one worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audio/io.h"

namespace hum::serve {

struct ServiceOptions {
  std::string data;  // see open_data_folder
  std::string listen = "127.0.0.1:8417";
  int64_t workers = 1;
  std::string weights;
  double max_seconds = audio::kDefaultMaxSeconds;
  std::string keys;  // a file (access/keys.h); empty: everybody may use the service
  std::string tls_cert, tls_key, tls;
  std::vector<std::string> host, trusted_proxy, cors_origin;
  bool insecure = false;
  std::string metrics;                               // address; empty: none
  std::filesystem::path program = "/proc/self/exe";  // hum, for workers and decoders

  template <class V>
  void visit_fields(V& v) {
    v("listen", listen, "address and port to listen on; port 0: any free one");
    v("data", data, "folder of records and sounds (default: hum/serve in the user's data folder)");
    v("workers", workers, "worker processes to run; 0: none, `hum worker` joins from elsewhere");
    v("weights", weights, "folder of released weights (default: HUM_WEIGHTS, else weights/)");
    v("max_seconds", max_seconds, "longest recording to accept, in seconds");
    v("keys", keys, "file of keys that callers need; hum serve add-key makes them (default: none)");
    v("tls_cert", tls_cert, "certificate with those that signed it, PEM: serve HTTPS");
    v("tls_key", tls_key, "private key of the certificate, PEM");
    v("tls", tls, "self-signed: make a certificate for the names and addresses of this machine");
    v("host", host, "more names or addresses to answer for, such as hum.example.org");
    v("trusted_proxy", trusted_proxy, "address of a proxy whose X-Forwarded headers count");
    v("cors_origin", cors_origin,
      "origin whose pages may call the API, such as https://example.org (default: none)");
    v("insecure", insecure,
      "listen on an address that other machines reach, without keys or without encryption");
    v("metrics", metrics, "address and port of /metrics for Prometheus (default: none)");
  }
};

// Where the server listens.
struct Listening {
  std::string url;
  int port = 0;
  std::string metrics_url;  // empty: none
  std::string fingerprint;  // of a self-signed certificate; empty: none
};

// Serves until a stop signal (app/stop.h); then takes no more jobs, lets the running ones end or
// return to the queue, and returns. `ready` is called once connections are accepted. Throws: kUsage
// for an address that is none, or that other machines reach without keys and TLS unless `insecure`,
// and for a certificate that cannot be used; kUnavailable if the port is taken, before the folder
// is created; kTemporary if the folder has a server; what open_data_folder, SqliteRecords and
// read_keys throw.
void run_service(const ServiceOptions& options, const std::function<void(Listening)>& ready);

struct WorkerServiceOptions {
  std::string data, weights;

  template <class V>
  void visit_fields(V& v) {
    v("data", data, "folder of records and sounds of the service that the worker joins");
    v("weights", weights, "folder of released weights (default: HUM_WEIGHTS, else weights/)");
  }
};

// Works until a stop signal; then ends the job that runs, or returns it to the queue. Throws: what
// joined_data_folder and Worker::run throw.
void run_worker(const WorkerServiceOptions& options);

// "127.0.0.1:8417" or "[::1]:0" or "localhost:8417". Throws: kUsage.
struct Address {
  std::string host;  // numeric
  int port = 0;
  bool is_loopback = false;
};
Address parse_address(const std::string& text, const char* flag = "listen");

// Refuses what contradicts itself or would be unsafe: addresses that other machines reach without
// keys and TLS, half a certificate, hosts, origins and proxies that are none. Throws: kUsage.
void validate_access(const ServiceOptions& options, const Address& address,
                     const std::optional<Address>& metrics);
// For ServerOptions::hosts of a server at this address.
std::vector<std::string> served_names(const ServiceOptions& options, const Address& address);
// What a self-signed certificate is for.
std::vector<std::string> certified_names(const ServiceOptions& options, const Address& address);

}  // namespace hum::serve
