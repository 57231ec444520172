#include "base/postgres.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>

#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/postgres_server.h"
#include "base/testing/refusal.h"

namespace hum {
namespace {

using ::testing::AllOf;
using testing::code_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Not;
using testing::PostgresServer;

class PostgresTest : public ::testing::Test {
 protected:
  PostgresServer& server_ = PostgresServer::shared();
  const std::string url_ = server_.new_database();
};

TEST_F(PostgresTest, ReturnsWhatItIsGiven) {
  Postgres database(url_);
  const std::vector<int64_t> numbers = {3, -4};
  const auto row = database.query(
      "SELECT $1::text, $2::bigint, $3::float8, $4::text, $5::bigint[], $2::bigint = 7", "it's",
      int64_t{7}, 0.1, std::nullopt, numbers);
  ASSERT_EQ(row.size(), 1);
  EXPECT_EQ(row.text(0, 0), "it's");
  EXPECT_EQ(row.integer(0, 1), 7);
  EXPECT_EQ(row.real(0, 2), 0.1);
  EXPECT_TRUE(row.is_null(0, 3));
  EXPECT_EQ(row.text(0, 4), "{3,-4}");
  EXPECT_TRUE(row.boolean(0, 5));
  database.run_script("CREATE TABLE t(n bigint); INSERT INTO t VALUES (1), (2)");
  EXPECT_EQ(database.query("UPDATE t SET n = n + $1", int64_t{1}).changed(), 2);
  EXPECT_THAT(database.query("SELECT n FROM t ORDER BY n").integers(), ElementsAre(2, 3));
}

TEST_F(PostgresTest, QuotesNames) {
  const Postgres database(url_);
  EXPECT_EQ(database.quoted("Table"), "\"Table\"");
  EXPECT_EQ(database.quoted("a.b\"c"), R"("a.b""c")");
  EXPECT_EQ(database.quoted_table("Table"), R"("Table")");
  EXPECT_EQ(database.quoted_table("music.recordings"), R"("music"."recordings")");
  EXPECT_EQ(database.quoted_table(R"("a.b".c d)"), R"("a.b"."c d")");
  EXPECT_EQ(database.quoted_table(R"("a""b.c")"), R"("a""b.c")");
  for (const std::string name :
       {"", ".", "a.", ".a", "a..b", "a.b.c", R"("a)", R"(a."b)", R"("")"}) {
    EXPECT_EQ(code_of([&] { database.quoted_table(name); }), ExitCode::kUsage) << name;
  }
  EXPECT_EQ(database.quoted("x; DROP TABLE t"), "\"x; DROP TABLE t\"");
}

TEST_F(PostgresTest, UndoesWhatThrows) {
  Postgres database(url_);
  database.query("CREATE TABLE t(n bigint)");
  EXPECT_EQ(code_of([&] {
              database.transact([&] {
                database.query("INSERT INTO t VALUES (1)");
                fail(ExitCode::kBadData, "stop");
              });
            }),
            ExitCode::kBadData);
  EXPECT_EQ(database.query("SELECT 1 FROM t").size(), 0);
  EXPECT_EQ(database.transact([&] { return database.query("INSERT INTO t VALUES (1)").changed(); }),
            1);
  EXPECT_EQ(database.query("SELECT 1 FROM t").size(), 1);
}

TEST_F(PostgresTest, ContinuesATransactionAfterAnAttemptThatTheServerRejects) {
  Postgres database(url_);
  database.query("CREATE TABLE t(n bigint CHECK (n < 9))");
  const auto insert = [&](int64_t n) { database.query("INSERT INTO t VALUES ($1)", n); };
  database.transact([&] {
    EXPECT_FALSE(database.attempt([&] { insert(1); }));
    const auto error = database.attempt([&] {
      insert(2);
      insert(9);
    });
    ASSERT_TRUE(error);
    EXPECT_THAT(error->message(), HasSubstr("check constraint"));
    insert(3);
  });
  EXPECT_THAT(database.query("SELECT n FROM t ORDER BY n").integers(), ElementsAre(1, 3));
}

TEST_F(PostgresTest, RepeatsATransactionWhoseAttemptLosesTheConnection) {
  Postgres database(url_), other(url_);
  int runs = 0;
  database.transact([&] {
    database.attempt([&] {
      if (++runs == 1) {
        other.query(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()");
      }
      database.query("SELECT 1");
    });
  });
  EXPECT_EQ(runs, 2);
}

TEST_F(PostgresTest, NamesTheKindOfError) {
  Postgres database(url_);
  EXPECT_EQ(code_of([&] { database.query("SELECT * FROM nothing"); }), ExitCode::kConfig);
  EXPECT_EQ(code_of([&] { database.query("SELECT 1 / 0"); }), ExitCode::kFailure);
  database.run_script("CREATE ROLE reader LOGIN PASSWORD 'secret'; CREATE TABLE t(n bigint)");
  Postgres reader(PostgresServer::as_user(url_, "reader:secret"));
  EXPECT_EQ(code_of([&] { reader.query("SELECT * FROM t"); }), ExitCode::kNoPermission);
  EXPECT_EQ(code_of([&] { Postgres(url_ + "&dbname=nowhere"); }), ExitCode::kUsage);
  EXPECT_EQ(code_of([&] { Postgres("postgresql://localhost:1/x"); }), ExitCode::kTemporary);
  database.query("DROP TABLE t");
  database.query("DROP ROLE reader");
}

TEST_F(PostgresTest, SaysWhatToDoAboutLocksTimeoutsAndServersThatOnlyRead) {
  Postgres database(url_), other(url_);
  database.query("CREATE TABLE t(n bigint)");
  database.run_script("BEGIN; LOCK TABLE t");
  const auto message = [&](const std::string& sql) {
    return message_of([&] { other.run_script(sql); });
  };
  other.query("SET lock_timeout = '20ms'");
  EXPECT_THAT(message("SELECT * FROM t"), HasSubstr("pg_stat_activity"));
  other.query("SET statement_timeout = '20ms'");
  EXPECT_THAT(message("SELECT pg_sleep(60)"), HasSubstr("statement_timeout = 0"));
  EXPECT_THAT(message("BEGIN READ ONLY; CREATE TABLE u(n bigint)"),
              AllOf(HasSubstr("name the primary server"), Not(HasSubstr("PGPASSWORD"))));
}

TEST_F(PostgresTest, NeverShowsAPassword) {
  Postgres(url_).query("CREATE ROLE singer LOGIN PASSWORD 'right'");
  const auto connect = [](const std::string& url) {
    return message_of([&] { const Postgres database(url); });
  };
  const std::string wrong = PostgresServer::as_user(url_, "singer:hidden");
  EXPECT_EQ(code_of([&] { const Postgres database(wrong); }), ExitCode::kNoPermission);
  EXPECT_THAT(connect(wrong), AllOf(HasSubstr("authentication failed"), Not(HasSubstr("hidden"))));
  for (const std::string url :
       {"postgresql://u:hidden@localhost:port/x", "postgresql://u:hidden@[::1/x",
        "postgresql://u:hidden%zz@h/x", "postgresql://localhost:1/x?password=hidden",
        "postgresql://u:hidden@localhost:1/x", "postgresql://u:hidden/a@h/x",
        "postgresql://u:a@hidden@h/x", "postgresql://u:hidden?a@h/x",
        "host=localhost password=hidden"}) {
    EXPECT_THAT(connect(url), AllOf(Not(HasSubstr("hidden")), Not(HasSubstr("nothing was thrown"))))
        << url;
  }
  const Postgres database(PostgresServer::as_user(url_, "singer:right"));
  EXPECT_THAT(database.name(), AllOf(HasSubstr("test_"), Not(HasSubstr("right"))));
  Postgres(url_).query("DROP ROLE singer");
}

// A host that accepts connections and then says nothing.
TEST_F(PostgresTest, ConnectsToTheNextHostIfTheFirstIsDead) {
  const int dead = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(dead, 8), 0);
  ASSERT_EQ(::getsockname(dead, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::string url = url_;
  url.replace(url.find("host="), 5, "host=127.0.0.1,");
  url += fmt::format("&port={},5432&connect_timeout=2", ntohs(address.sin_port));
  EXPECT_EQ(Postgres(url).query("SELECT 5").integer(0, 0), 5);
  ::close(dead);
}

// A password that expires while the program runs.
TEST_F(PostgresTest, ReadsCredentialsAnewWhenItConnectsAgain) {
  Postgres owner(url_);
  owner.query("CREATE ROLE player LOGIN PASSWORD 'old'");
  const ScratchFolder folder;
  const std::string file = folder / "pgpass";
  const auto store = [&](const std::string& password) {
    write_file(file, "*:*:*:player:" + password + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  };
  store("old");
  ::setenv("PGPASSFILE", file.c_str(), /*overwrite=*/1);
  Postgres database(PostgresServer::as_user(url_, "player"));
  owner.query("ALTER ROLE player PASSWORD 'new'");
  owner.query(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = 'player'");
  // The first try still reads the old one.
  std::jthread renewal([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    store("new");
  });
  EXPECT_EQ(database.transact([&] { return database.query("SELECT 5").integer(0, 0); }), 5);
  owner.query("ALTER ROLE player PASSWORD 'newest'");
  owner.query(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = 'player'");
  EXPECT_EQ(code_of([&] { database.transact([&] { database.query("SELECT 5"); }); }),
            ExitCode::kNoPermission);
  ::unsetenv("PGPASSFILE");
  owner.query("DROP ROLE player");
}

TEST_F(PostgresTest, ResumesWhenTheServerIsBack) {
  Postgres database(url_);
  database.query("CREATE TABLE t(n bigint)");
  std::atomic<bool> is_killed = false;
  std::atomic<int> runs = 0;
  std::jthread inserting([&] {
    database.transact([&] {
      database.query("INSERT INTO t VALUES ($1)", int64_t{++runs});
      while (runs == 1 && !is_killed) std::this_thread::yield();
    });
  });
  while (runs == 0) std::this_thread::yield();
  server_.kill();
  is_killed = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  server_.start();
  inserting.join();
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(database.query("SELECT n FROM t").integers(), ElementsAre(2));
}

TEST_F(PostgresTest, GivesUpWhenTheServerStaysAway) {
  Postgres database(url_, std::chrono::milliseconds(200));
  server_.kill();
  EXPECT_EQ(code_of([&] { database.transact([&] { database.query("SELECT 1"); }); }),
            ExitCode::kTemporary);
  server_.start();
  database.transact([&] { database.query("SELECT 1"); });
}

// Two transactions that wait for each other: the server ends one of them.
TEST_F(PostgresTest, RepeatsATransactionThatTheServerEndsForAnother) {
  Postgres first(url_), second(url_);
  first.run_script("CREATE TABLE t(n bigint, m bigint); INSERT INTO t VALUES (1, 0), (2, 0)");
  const auto add = [](Postgres& database, int64_t n) {
    database.query("UPDATE t SET m = m + 1 WHERE n = $1", n);
  };
  std::atomic<int> locked = 0;
  const auto both = [&](Postgres& database, int64_t one, int64_t other) {
    bool is_first_run = true;
    database.transact([&] {
      add(database, one);
      if (std::exchange(is_first_run, false)) {
        for (++locked; locked < 2;) std::this_thread::yield();
      }
      add(database, other);
    });
  };
  {
    std::jthread thread([&] { both(second, 2, 1); });
    both(first, 1, 2);
  }
  EXPECT_THAT(first.query("SELECT m FROM t ORDER BY n").integers(), ElementsAre(2, 2));
}

}  // namespace
}  // namespace hum
