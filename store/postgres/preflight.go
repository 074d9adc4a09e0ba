package postgres

import (
	"context"
	"fmt"
)

// An UnsafeError means that the settings of a server, a role or a table do not keep a store safe,
// so that the store was not opened. No record was written, but the schema may have been upgraded.
type UnsafeError struct {
	Address string // without a password
	Why     string // the reason, and what to do
}

func (e *UnsafeError) Error() string { return fmt.Sprintf("store %s: %s", e.Address, e.Why) }

func (s *database) refuse(format string, args ...any) error {
	return &UnsafeError{s.address, fmt.Sprintf(format, args...)}
}

// facts are the values that the preflight checks. A setting that the server does not have is nil.
type facts struct {
	version                            int // such as 150018
	fsync, fullPageWrites, synchronous *string
	role                               string
	super, bypass                      bool
}

const selectFacts = `
	SELECT current_setting('server_version'), current_setting('server_version_num')::bigint,
		current_setting('fsync', true), current_setting('full_page_writes', true),
		current_setting('synchronous_commit', true),
		rolname::text, rolsuper, rolbypassrls, current_setting('enable_seqscan', true) IS NOT NULL
	FROM pg_roles WHERE rolname = current_user`

// oldest has the oldest safe minor release of each major version. In older ones, the statistics of
// the planner reveal rows that row-level security hides (CVE-2025-8713).
var oldest = map[int]int{14: 19, 15: 14, 16: 10, 17: 6}

// oldestVersion is the oldest major version that PostgreSQL still supports.
const oldestVersion = 14

// preflight returns an [UnsafeError] if the server or the role cannot give the guarantees of this
// package.
func (s *database) preflight(ctx context.Context) error {
	var f facts
	err := s.transact(ctx, noScope, reading, func(t *tx) error {
		t.row(selectFacts, nil, &s.version, &f.version, &f.fsync, &f.fullPageWrites, &f.synchronous, &f.role, &f.super, &f.bypass, &s.byKey)
		return t.flush()
	})
	if err != nil {
		return err
	}
	if why := f.unsafe(); why != "" {
		return &UnsafeError{s.address, why}
	}
	return nil
}

// unsafe returns the first problem and what to do about it, or "" if there is none.
func (f *facts) unsafe() string {
	off := func(setting *string) bool { return setting != nil && *setting == "off" }
	major, minor := f.version/10_000, f.version%10_000
	switch {
	case major < oldestVersion:
		return fmt.Sprintf("PostgreSQL %d.%d is too old: use %d.%d or newer", major, minor, oldestVersion, oldest[oldestVersion])
	case minor < oldest[major]:
		return fmt.Sprintf("PostgreSQL %d.%d reveals rows that row-level security hides: upgrade it to %d.%d",
			major, minor, major, oldest[major])
	case off(f.fsync):
		return "fsync is off, so that a loss of power may damage the database: set fsync = on in postgresql.conf and restart the server"
	case off(f.fullPageWrites):
		return "full_page_writes is off, so that a loss of power may damage the database: set full_page_writes = on in postgresql.conf and reload it"
	case off(f.synchronous):
		return "synchronous_commit is off, so that acknowledged writes may be lost: set it to on, for the server, the database and the role: " +
			fmt.Sprintf("ALTER ROLE %s SET synchronous_commit = on", f.role)
	case f.super:
		return fmt.Sprintf("the role %s is a superuser, whom row-level security does not bind: CREATE ROLE carrel LOGIN, and make it the owner of the database", f.role)
	case f.bypass:
		return fmt.Sprintf("row-level security does not bind the role %[1]s: ALTER ROLE %[1]s NOBYPASSRLS", f.role)
	}
	return ""
}
