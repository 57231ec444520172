// A thin layer over SQLite: a database, statements, transactions. Errors become hum::Error. It
// knows no tables.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hum {

// One prepared statement and its parameters. Rows end when the object does.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  // Parameters count from 1 in the order of the calls.
  Statement& bind(std::string_view text);
  Statement& bind(const std::string& text) { return bind(std::string_view(text)); }
  Statement& bind(const char* text) { return bind(std::string_view(text)); }
  Statement& bind(int64_t value);
  Statement& bind(int value) { return bind(static_cast<int64_t>(value)); }
  Statement& bind(double value);
  Statement& bind(std::nullopt_t);
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind(std::nullopt);
  }

  // Moves to the next row; false after the last one. Throws: kCannotCreate if the disk is full,
  // kTemporary if others hold the lock for too long, kFailure for a damaged file or a mistake.
  bool next();

  // Columns of the current row count from 0.
  std::string text(int column) const;
  int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  bool is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void require(int status) const;

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bound_ = 0;
};

// A connection in WAL mode. Not thread-safe.
class Database {
 public:
  // Opens or creates the file. With `is_durable` a commit returns after the disk has it
  // (synchronous=FULL); without, a power cut may lose the last commits, but a killed process loses
  // none. Throws: kFailure for a damaged file, kCannotCreate, kNoPermission if it may not be
  // written.
  Database(const std::filesystem::path& file, bool is_durable);

  template <typename... Values>
  Statement query(std::string_view sql, const Values&... values) {
    Statement statement(handle_.get(), sql);
    (statement.bind(values), ...);
    return statement;
  }
  // Runs a statement to its end and returns how many rows it changed.
  template <typename... Values>
  int64_t run(std::string_view sql, const Values&... values) {
    Statement statement = query(sql, values...);
    while (statement.next()) {
    }
    return sqlite3_changes64(handle_.get());
  }
  // Runs several statements without parameters.
  void run_script(const char* sql);
  // Moves all changes from the log into the file and empties the log, so that what was deleted is
  // nowhere on the disk. False if others use the log: try again later.
  bool empty_log();
  int64_t last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// Takes the write lock at once, so that what it reads stays true until commit(). Rolls back without
// commit().
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool is_open_ = true;
};

}  // namespace hum
