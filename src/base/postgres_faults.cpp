// https://www.postgresql.org/docs/15/errcodes-appendix.html
#include <algorithm>

#include "base/postgres_impl.h"

namespace hum::internal {
namespace {

using Cause = PostgresFault::Cause;

constexpr const char* kRepeat =
    "check that the server runs and can be reached, then repeat the command";
constexpr const char* kCheckUser =
    "check the user, its password (PGUSER, PGPASSWORD, ~/.pgpass) and its privileges";
constexpr const char* kCheckNames = "check the names of schema, table and columns";

// The first row that matches counts.
constexpr PostgresFault kFaults[] = {
    {"53100", ExitCode::kCannotCreate, "make room on the disk of the database"},
    {"55P03", ExitCode::kTemporary,
     "another transaction holds a lock for over a minute: SELECT * FROM pg_stat_activity shows it; "
     "repeat the command when it has ended"},
    {"57014", ExitCode::kTemporary,
     "somebody cancelled the statement, or it took longer than the server allows: ALTER ROLE ... "
     "SET statement_timeout = 0, then repeat the command"},
    {"25006", ExitCode::kNoPermission,
     "this server or this user may only read: name the primary server in the URL (with several "
     "hosts, add target_session_attrs=read-write), or ALTER ROLE ... SET "
     "default_transaction_read_only = off"},
    {"08", ExitCode::kTemporary, kRepeat, Cause::kConnection},
    {"57P", ExitCode::kTemporary, kRepeat, Cause::kConnection},
    {"25P03", ExitCode::kTemporary, kRepeat, Cause::kConnection},
    {"40001", ExitCode::kTemporary, kRepeat, Cause::kConflict},
    {"40P01", ExitCode::kTemporary, kRepeat, Cause::kConflict},
    {"53", ExitCode::kTemporary, kRepeat},
    {"28", ExitCode::kNoPermission, kCheckUser},
    {"42501", ExitCode::kNoPermission, kCheckUser},
    {"3D000", ExitCode::kUsage, "name another database in the URL, or create it"},
    {"42P01", ExitCode::kConfig, kCheckNames},
    {"42703", ExitCode::kConfig, kCheckNames},
    {"3F000", ExitCode::kConfig, kCheckNames},
    {"", ExitCode::kFailure, ""},
};

}  // namespace

const PostgresFault& postgres_fault(std::string_view state) {
  return *std::ranges::find_if(
      kFaults, [&](const PostgresFault& fault) { return state.starts_with(fault.state); });
}

}  // namespace hum::internal
