// A certificate that the service signs itself, for a network without a domain: browsers allow the
// microphone only over TLS. They warn until their user has accepted the certificate; its
// fingerprint tells that it is the right one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hum::serve {

// The names by which others may reach this machine: host name, host name.local, localhost, and the
// IPv4 addresses of its network interfaces. IPv6 addresses change too often for a certificate.
std::vector<std::string> machine_names();

// Makes sure that the PEM file holds a key (P-256) and a certificate for all names and addresses,
// valid for a month at least: keeps the file if it does, else replaces it. Returns the SHA-256
// fingerprint of the certificate, "AB:CD:...". Throws: kCannotCreate, kNoPermission.
std::string ensure_certificate(const std::filesystem::path& file,
                               const std::vector<std::string>& names);

}  // namespace hum::serve
