#include "base/postgres.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <thread>

#include "base/http.h"
#include "base/log.h"

namespace hum {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::array<std::string_view, 2> kSchemes = {"postgresql://", "postgres://"};
constexpr milliseconds kConnectTimeout{15'000};
// New credentials may be on their way when the old ones expire.
constexpr milliseconds kPauseBeforeNewCredentials{1'000};
// The server ends what a frozen or lost client holds; TCP alone would take hours to notice.
constexpr const char* kBegin =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '60s'; "
    "SET LOCAL idle_in_transaction_session_timeout = '5min'";
constexpr milliseconds kFirstPause{50}, kLongestPause{2'000};

bool starts_with_any(std::string_view state, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return state.starts_with(start); });
}

// The server has ended the connection, or does not accept it yet.
bool is_gone(std::string_view state) { return starts_with_any(state, {"08", "57P", "25P03"}); }

// Another transaction was in the way.
bool is_conflict(std::string_view state) { return state == "40001" || state == "40P01"; }

// `state`: SQLSTATE, https://www.postgresql.org/docs/15/errcodes-appendix.html
ExitCode code_of(std::string_view state) {
  if (state == "53100") return ExitCode::kCannotCreate;  // disk full
  if (is_gone(state) || is_conflict(state) || starts_with_any(state, {"53", "55P03", "57014"})) {
    return ExitCode::kTemporary;
  }
  if (starts_with_any(state, {"28", "42501", "25006"})) return ExitCode::kNoPermission;
  if (state == "3D000") return ExitCode::kUsage;  // no such database
  if (starts_with_any(state, {"42P01", "42703", "3F000"})) return ExitCode::kConfig;
  return ExitCode::kFailure;
}

const char* hint_of(ExitCode code) {
  switch (code) {
    case ExitCode::kTemporary:
      return "check that the server runs and can be reached, then repeat the command";
    case ExitCode::kNoPermission:
      return "check the user, its password (PGUSER, PGPASSWORD, ~/.pgpass) and its privileges";
    case ExitCode::kUsage:
      return "name another database in the URL, or create it";
    case ExitCode::kConfig:
      return "check the names of schema, table and columns";
    case ExitCode::kCannotCreate:
      return "make room on the disk of the database";
    default:
      return "";
  }
}

// Unlike words such as FATAL, it has a digit.
bool is_state(std::string_view text) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return text.size() == 5 && std::ranges::any_of(text, is_digit) &&
         std::ranges::all_of(text,
                             [&](unsigned char c) { return is_digit(c) || std::isupper(c) != 0; });
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string text_of(const char* text) { return text != nullptr ? text : ""; }

std::string name_of(PGconn* connection) {
  const std::string host = text_of(PQhost(connection)), port = text_of(PQport(connection));
  const std::string database = text_of(PQdb(connection));
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

// Waits until the connection is there, or has failed. False: neither in time.
bool wait_for(PGconn* connection) {
  const auto deadline = Clock::now() + kConnectTimeout;
  PostgresPollingStatusType step = PGRES_POLLING_WRITING;
  while (step != PGRES_POLLING_OK && step != PGRES_POLLING_FAILED) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    const auto events = static_cast<short>(step == PGRES_POLLING_READING ? POLLIN : POLLOUT);
    pollfd socket{.fd = PQsocket(connection), .events = events};
    if (left.count() <= 0) return false;
    if (::poll(&socket, 1, static_cast<int>(left.count())) > 0) step = PQconnectPoll(connection);
  }
  return true;
}

}  // namespace

bool is_postgres_url(std::string_view text) {
  return std::ranges::any_of(kSchemes,
                             [&](std::string_view scheme) { return text.starts_with(scheme); });
}

void PostgresRows::Clear::operator()(pg_result* result) const { PQclear(result); }
void Postgres::Finish::operator()(pg_conn* connection) const { PQfinish(connection); }

int64_t PostgresRows::size() const { return PQntuples(result_.get()); }
int64_t PostgresRows::changed() const { return std::atoll(PQcmdTuples(result_.get())); }

bool PostgresRows::is_null(int64_t row, int column) const {
  return PQgetisnull(result_.get(), static_cast<int>(row), column) != 0;
}

std::string PostgresRows::text(int64_t row, int column) const {
  const int at = static_cast<int>(row);
  return {PQgetvalue(result_.get(), at, column),
          static_cast<size_t>(PQgetlength(result_.get(), at, column))};
}

int64_t PostgresRows::integer(int64_t row, int column) const {
  return std::atoll(PQgetvalue(result_.get(), static_cast<int>(row), column));
}

double PostgresRows::real(int64_t row, int column) const {
  return std::strtod(PQgetvalue(result_.get(), static_cast<int>(row), column), nullptr);
}

bool PostgresRows::boolean(int64_t row, int column) const { return text(row, column) == "t"; }

std::vector<int64_t> PostgresRows::integers(int column) const {
  std::vector<int64_t> all;
  for (int64_t row = 0; row < size(); ++row) all.push_back(integer(row, column));
  return all;
}

internal::PostgresValue internal::to_postgres(std::string_view text) { return std::string(text); }
internal::PostgresValue internal::to_postgres(int64_t value) { return std::to_string(value); }
internal::PostgresValue internal::to_postgres(double value) { return fmt::format("{}", value); }
internal::PostgresValue internal::to_postgres(std::span<const int64_t> array) {
  return fmt::format("{{{}}}", fmt::join(array, ","));
}

Postgres::Postgres(std::string url, milliseconds patience)
    : url_(std::move(url)), patience_(patience) {
  require_valid(url_);
  connect();
}

std::optional<Postgres::Failure> Postgres::try_to_connect() {
  // The URL overrides what is before it. A host that vanishes is noticed within a minute.
  const char* const keys[] = {"keepalives_idle",           "keepalives_interval",
                              "keepalives_count",          "tcp_user_timeout",
                              "fallback_application_name", "dbname",
                              "client_encoding",           nullptr};
  const char* const values[] = {"30", "10", "3", "60000", "hum", url_.c_str(), "UTF8", nullptr};
  connection_.reset(PQconnectStartParams(keys, values, /*expand_dbname=*/1));
  HUM_CHECK(connection_ != nullptr, "out of memory");
  name_ = name_of(connection_.get());
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char* text) { spdlog::debug("{}", first_line(text)); },
      nullptr);
  PQsetErrorVerbosity(connection_.get(), PQERRORS_VERBOSE);  // with the state
  const bool has_answered =
      PQstatus(connection_.get()) == CONNECTION_BAD || wait_for(connection_.get());
  if (!has_answered) {
    return Failure{ExitCode::kTemporary,
                   fmt::format("does not answer within {} s", kConnectTimeout.count() / 1000)};
  }
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
    const std::string_view reason = first_line(text.substr(at + 6));
    return {code_of(state),
            std::string(reason.substr(std::min(reason.find_first_not_of(' '), reason.size())))};
  }
  const bool lacks_password = PQconnectionNeedsPassword(connection_.get()) != 0;
  return {lacks_password ? ExitCode::kNoPermission : ExitCode::kTemporary,
          std::string(first_line(text))};
}

void Postgres::connect() {
  std::optional<Failure> failure = try_to_connect();
  if (failure && failure->code == ExitCode::kNoPermission) {
    std::this_thread::sleep_for(kPauseBeforeNewCredentials);
    failure = try_to_connect();  // libpq reads the files again
  }
  if (!failure) return;
  may_retry_ = failure->code == ExitCode::kTemporary;
  fail(failure->code, fmt::format("{}: {}", name_, failure->text), hint_of(failure->code));
}

PostgresRows Postgres::run(const std::string& sql,
                           const std::vector<internal::PostgresValue>& values) {
  std::vector<const char*> texts;
  texts.reserve(values.size());
  for (const auto& value : values) texts.push_back(value ? value->c_str() : nullptr);
  return checked(PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(texts.size()),
                              nullptr, texts.data(), nullptr, nullptr, /*resultFormat=*/0));
}

PostgresRows Postgres::run_script(const std::string& sql) {
  return checked(PQexec(connection_.get(), sql.c_str()));
}

PostgresRows Postgres::checked(PGresult* result) {
  PostgresRows rows(result);
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return rows;
  const std::string state = text_of(PQresultErrorField(result, PG_DIAG_SQLSTATE));
  // Without a state, libpq itself has failed to send or to receive.
  const std::string text = state.empty()
                               ? connection_failure().text
                               : text_of(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  const bool is_lost =
      state.empty() || is_gone(state) || PQstatus(connection_.get()) == CONNECTION_BAD;
  if (is_lost) connection_.reset();
  may_retry_ = is_lost || is_conflict(state);
  const ExitCode code = is_lost ? ExitCode::kTemporary : code_of(state);
  fail(code, fmt::format("{}: {}", name_, text), hint_of(code));
}

void Postgres::roll_back() {
  if (connection_ == nullptr || PQtransactionStatus(connection_.get()) == PQTRANS_IDLE) return;
  PQclear(PQexec(connection_.get(), "ROLLBACK"));
  // What is still open ends with the connection.
  if (PQtransactionStatus(connection_.get()) != PQTRANS_IDLE) connection_.reset();
}

void Postgres::run_transaction(const std::function<void()>& body) {
  std::optional<Clock::time_point> deadline;  // from the first failure on
  for (milliseconds longest = kFirstPause;; longest = std::min(2 * longest, kLongestPause)) {
    may_retry_ = false;
    try {
      if (connection_ == nullptr) connect();
      run_script(kBegin);
      body();
      run_script("COMMIT");
      return;
    } catch (const Error& error) {
      roll_back();
      if (!deadline) deadline = Clock::now() + patience_;
      if (!may_retry_ || Clock::now() >= *deadline) throw;
      if (longest == kFirstPause && connection_ == nullptr) {
        spdlog::warn("{}; connecting again", error.message());
      }
    } catch (...) {
      roll_back();
      throw;
    }
    pause(jittered(longest), {});
  }
}

std::string Postgres::quoted(std::string_view name) const {
  std::string sql, part;
  bool is_inside = false;  // double quotes
  const auto add_part = [&] {
    const std::unique_ptr<char, decltype(&PQfreemem)> text(
        PQescapeIdentifier(connection_.get(), part.data(), part.size()), PQfreemem);
    HUM_REQUIRE(text != nullptr, "{}: is not a name", part);
    sql += (sql.empty() ? "" : ".") + std::string(text.get());
    part.clear();
  };
  for (const char c : name) {
    if (c == '"') {
      is_inside = !is_inside;
    } else if (c == '.' && !is_inside) {
      add_part();
    } else {
      part += c;
    }
  }
  add_part();
  return sql;
}

}  // namespace hum
