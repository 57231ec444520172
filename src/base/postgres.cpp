#include "base/postgres.h"

#include <libpq-fe.h>

#include <algorithm>
#include <cstdlib>

#include "base/http.h"
#include "base/log.h"
#include "base/postgres_impl.h"

namespace hum {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The server ends what a frozen or lost client holds; TCP alone would take hours to notice.
constexpr const char* kBegin =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '60s'; "
    "SET LOCAL idle_in_transaction_session_timeout = '5min'";
constexpr milliseconds kFirstPause{50}, kLongestPause{2'000};

// What is between the dots of a name. Nothing if a part is empty, or has quotes without an end.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  bool is_inside = false;  // double quotes
  for (size_t i = 0; i < name.size(); ++i) {
    if (is_inside && name.substr(i, 2) == "\"\"") {
      parts.back() += name[i++];
    } else if (name[i] == '"') {
      is_inside = !is_inside;
    } else if (name[i] == '.' && !is_inside) {
      parts.emplace_back();
    } else {
      parts.back() += name[i];
    }
  }
  return is_inside || std::ranges::find(parts, "") != parts.end() ? std::vector<std::string>()
                                                                  : parts;
}

}  // namespace

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
  using Cause = internal::PostgresFault::Cause;
  const std::string state = internal::text_of(PQresultErrorField(result, PG_DIAG_SQLSTATE));
  // Without a state, libpq itself has failed to send or to receive.
  const std::string text =
      state.empty() ? connection_failure().text
                    : internal::text_of(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  const bool is_lost = state.empty() || PQstatus(connection_.get()) == CONNECTION_BAD ||
                       internal::postgres_fault(state).cause == Cause::kConnection;
  if (is_lost) connection_.reset();
  const auto& fault =
      internal::postgres_fault(is_lost ? internal::kUnreachable : std::string_view(state));
  may_retry_ = fault.cause != Cause::kStatement;
  fail(fault.code, fmt::format("{}: {}", name_, text), fault.hint);
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

std::optional<Error> Postgres::attempt(const std::function<void()>& body) {
  run_script("SAVEPOINT attempt");
  try {
    body();
    run_script("RELEASE attempt");
    return std::nullopt;
  } catch (const Error& error) {
    if (may_retry_) throw;  // transact() does
    run_script("ROLLBACK TO attempt; RELEASE attempt");
    return error;
  }
}

std::string Postgres::quoted(std::string_view name) const {
  const std::unique_ptr<char, decltype(&PQfreemem)> text(
      PQescapeIdentifier(connection_.get(), name.data(), name.size()), PQfreemem);
  HUM_REQUIRE(text != nullptr, "{}: is not a name", name);
  return text.get();
}

std::string Postgres::quoted_table(std::string_view name) const {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty() || parts.size() > 2) {
    fail(ExitCode::kUsage, fmt::format("{} is not the name of a table", name),
         "TABLE or SCHEMA.TABLE; a part with dots needs double quotes, and quotes in it are "
         "doubled");
  }
  return parts.size() == 1 ? quoted(parts[0]) : quoted(parts[0]) + "." + quoted(parts[1]);
}

}  // namespace hum
