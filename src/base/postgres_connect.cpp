// How a connection to PostgreSQL is made, and why it is not.
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <thread>

#include "base/log.h"
#include "base/postgres.h"
#include "base/postgres_impl.h"

namespace hum {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::string_view, 2> kSchemes = {"postgresql://", "postgres://"};
// Of each host of the URL, so that one that is dead leaves time for the others.
constexpr const char* kConnectTimeout_s = "10";
// New credentials may be on their way when the old ones expire.
constexpr milliseconds kPauseBeforeNewCredentials{1'000};

// Unlike words such as FATAL, it has a digit.
bool is_state(std::string_view text) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return text.size() == 5 && std::ranges::any_of(text, is_digit) &&
         std::ranges::all_of(text,
                             [&](unsigned char c) { return is_digit(c) || std::isupper(c) != 0; });
}

std::string name_of(PGconn* connection) {
  const std::string host = internal::text_of(PQhost(connection)),
                    port = internal::text_of(PQport(connection));
  const std::string database = internal::text_of(PQdb(connection));
  if (host.starts_with('/')) {  // the folder of a socket
    return fmt::format("postgresql:///{}?host={}&port={}", database, host, port);
  }
  return fmt::format("postgresql://{}:{}/{}", host, port, database);
}

// A password with '/', '?' or '@' would be taken for a part of the host, and shown.
bool is_unambiguous(std::string_view url) {
  const std::string_view rest = url.substr(std::min(url.find("//") + 2, url.size()));
  const size_t at = rest.rfind('@');
  return at == rest.npos || (at == rest.find('@') && at < rest.find_first_of("/?"));
}

void require_valid(const std::string& url) {
  char* reason = nullptr;
  const bool may_be_valid = is_postgres_url(url) && is_unambiguous(url);
  PQconninfoOption* parts = may_be_valid ? PQconninfoParse(url.c_str(), &reason) : nullptr;
  const bool is_valid = parts != nullptr;
  PQconninfoFree(parts);
  PQfreemem(reason);  // quotes the URL, with its password
  if (is_valid) return;
  fail(ExitCode::kUsage, "the URL of the database is not valid",
       "postgresql://USER@HOST:5432/DATABASE, odd characters as %XX; the password is best left to "
       "~/.pgpass");
}

}  // namespace

bool is_postgres_url(std::string_view text) {
  return std::ranges::any_of(kSchemes,
                             [&](std::string_view scheme) { return text.starts_with(scheme); });
}

Postgres::Postgres(std::string url, milliseconds patience)
    : url_(std::move(url)), patience_(patience) {
  require_valid(url_);
  connect();
}

std::optional<Postgres::Failure> Postgres::try_to_connect() {
  // The URL overrides what is before it. A host that vanishes is noticed within a minute.
  const char* const keys[] = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                              "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                              "dbname",           "client_encoding",  nullptr};
  const char* const values[] = {kConnectTimeout_s, "30",   "10",   "3", "60000", "hum",
                                url_.c_str(),      "UTF8", nullptr};
  connection_.reset(PQconnectStartParams(keys, values, /*expand_dbname=*/1));
  HUM_CHECK(connection_ != nullptr, "out of memory");
  PQsetNoticeProcessor(
      connection_.get(),
      [](void*, const char* text) { spdlog::debug("{}", internal::first_line(text)); }, nullptr);
  PQsetErrorVerbosity(connection_.get(), PQERRORS_VERBOSE);  // with the state
  // Starts again, with the verbosity, and waits. Only libpq can leave a host for the next one.
  if (PQstatus(connection_.get()) != CONNECTION_BAD) PQreset(connection_.get());
  name_ = name_of(connection_.get());
  if (PQstatus(connection_.get()) == CONNECTION_OK) return std::nullopt;
  return connection_failure();
}

// "connection to server at ... failed: FATAL:  28P01: password authentication failed ...", or
// without a state if no server said so.
Postgres::Failure Postgres::connection_failure() const {
  const std::string_view text = PQerrorMessage(connection_.get());
  for (size_t colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
    const size_t at = text.find_first_not_of(' ', colon + 1);
    if (at == text.npos || at + 5 >= text.size() || text[at + 5] != ':') continue;
    const std::string_view state = text.substr(at, 5);
    if (!is_state(state)) continue;
    const std::string_view reason = internal::first_line(text.substr(at + 6));
    return {std::string(state),
            std::string(reason.substr(std::min(reason.find_first_not_of(' '), reason.size())))};
  }
  const bool lacks_password = PQconnectionNeedsPassword(connection_.get()) != 0;
  return {std::string(lacks_password ? internal::kNoPassword : internal::kUnreachable),
          std::string(internal::first_line(text))};
}

void Postgres::connect() {
  std::optional<Failure> failure = try_to_connect();
  if (failure && internal::postgres_fault(failure->state).code == ExitCode::kNoPermission) {
    std::this_thread::sleep_for(kPauseBeforeNewCredentials);
    failure = try_to_connect();  // libpq reads the files again
  }
  if (!failure) return;
  const internal::PostgresFault& fault = internal::postgres_fault(failure->state);
  may_retry_ = fault.code == ExitCode::kTemporary;
  fail(fault.code, fmt::format("{}: {}", name_, failure->text), fault.hint);
}

}  // namespace hum
