// A thin layer over libpq: a connection, queries with parameters, and transactions that survive a
// lost connection. Errors become hum::Error. It knows no tables.
//
// A URL may hold a password: messages name only the server and the database. Credentials come from
// the URL or, as in every program that uses libpq, from PGPASSWORD, ~/.pgpass and service files.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

struct pg_conn;  // libpq's
struct pg_result;

namespace hum {

// Whether the text starts like a URL of a PostgreSQL database.
bool is_postgres_url(std::string_view text);

// The result of a query. Rows and columns count from 0.
class PostgresRows {
 public:
  explicit PostgresRows(pg_result* result) : result_(result) {}

  int64_t size() const;
  // How many rows an INSERT, UPDATE or DELETE changed.
  int64_t changed() const;

  bool is_null(int64_t row, int column) const;
  std::string text(int64_t row, int column) const;      // empty for NULL
  int64_t integer(int64_t row, int column) const;       // 0 for NULL
  double real(int64_t row, int column) const;           // 0 for NULL
  bool boolean(int64_t row, int column) const;          // false for NULL
  std::vector<int64_t> integers(int column = 0) const;  // of all rows

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

namespace internal {
// A parameter as text; null: NULL.
using PostgresValue = std::optional<std::string>;
PostgresValue to_postgres(std::string_view text);
PostgresValue to_postgres(int64_t value);
PostgresValue to_postgres(double value);
PostgresValue to_postgres(std::span<const int64_t> array);
inline PostgresValue to_postgres(const char* text) { return text; }
inline PostgresValue to_postgres(const std::string& text) { return text; }
inline PostgresValue to_postgres(const PostgresValue& text) { return text; }
inline PostgresValue to_postgres(const std::vector<int64_t>& array) {
  return to_postgres(std::span<const int64_t>(array));
}
}  // namespace internal

// A connection. Not thread-safe.
class Postgres {
 public:
  // `patience`: how long transact() tries to get a lost connection back.
  // Throws: kUsage for a URL or a database that does not exist, kNoPermission if the server rejects
  // user or password, twice, kTemporary if it does not answer.
  explicit Postgres(std::string url, std::chrono::milliseconds patience = std::chrono::seconds(60));

  // postgresql://host:port/database
  const std::string& name() const { return name_; }

  // Parameters are $1, $2, ... Throws: kTemporary if the connection is lost or others hold a lock
  // for a minute, kNoPermission, kConfig for tables and columns that are missing, kCannotCreate for
  // a full disk, kFailure.
  template <typename... Values>
  PostgresRows query(const std::string& sql, const Values&... values) {
    return run(sql, {internal::to_postgres(values)...});
  }
  // Several statements without parameters; returns the rows of the last one.
  PostgresRows run_script(const std::string& sql);

  // Runs `body` in a transaction (read committed) and returns its value once that is committed. If
  // the connection is lost, connects and runs `body` again; the same if two transactions wait for
  // each other. The first run may have been committed when only the answer was lost: `body` must
  // bear repetition.
  template <typename Body>
  auto transact(const Body& body) {
    if constexpr (std::is_void_v<decltype(body())>) {
      run_transaction([&] { body(); });
    } else {
      std::optional<decltype(body())> value;
      run_transaction([&] { value = body(); });
      return std::move(*value);
    }
  }

  // Within transact(): runs `body`, and undoes it if the server rejects what it does. Returns the
  // error; null: it is done.
  std::optional<Error> attempt(const std::function<void()>& body);

  // An identifier as SQL, exactly as it is given.
  std::string quoted(std::string_view name) const;
  // TABLE or SCHEMA.TABLE as SQL, with capitals as they are. As in psql, double quotes may be
  // around a part, for example one with dots. Throws: kUsage.
  std::string quoted_table(std::string_view name) const;

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  struct Failure {
    std::string state, text;
  };
  PostgresRows run(const std::string& sql, const std::vector<internal::PostgresValue>& values);
  PostgresRows checked(pg_result* result);
  void connect();
  std::optional<Failure> try_to_connect();
  Failure connection_failure() const;
  void run_transaction(const std::function<void()>& body);
  void roll_back();

  std::string url_, name_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<pg_conn, Finish> connection_;
  // Whether what failed last may succeed on a new connection.
  bool may_retry_ = false;
};

}  // namespace hum
