package postgres

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/postgres"
)

// manyRows fills a scope.
const manyRows = `
	SET session_replication_role = replica;
	INSERT INTO block (scope, session_id, block_id, turn, kind, tools, tokens, state, form, window_tokens, stub, pinned, off, earlier)
	SELECT 's', convert_to('s' || i / 40, 'UTF8'), sha256(convert_to(i::text, 'UTF8')), i % 40, 'user', '', 1, 'live', 'full', 1, NULL, false, false, 0
	FROM generate_series(1, 20000) i;
	INSERT INTO artifact (scope, seq, artifact_id, version, class, status, pinned, content, about, bytes, tokens, encoding, source, created, updated, address)
	SELECT 's', i, sha256(convert_to(i::text, 'UTF8')), 1, 'memory', 'live', false, '', '', 1, 1, '', '', 1, 1, '' FROM generate_series(1, 20000) i;
	INSERT INTO artifact_word (scope, word, seq)
	SELECT 's', convert_to(word, 'UTF8'), i FROM generate_series(1, 20000) i, unnest(ARRAY['one', 'two']) word;`

// What is asked by a prefix, or by two words, reads few pages of a large scope, whether the server
// has statistics or none, those of a time when each word was rare, or a plan of a connection that
// began when the tables were empty.
func TestPlansReadFewPages(t *testing.T) {
	queries := []struct {
		name, types, sql, arguments string
		most                        int
	}{
		{"blocks by a prefix", "bytea, bytea, bigint, bytea", selectPrefix, `'s', '\xabcd', 2, '\xabce'`, 20},
		{"artifacts by a prefix", "bytea, bigint, bytea, bytea", pickPrefix, `'s', 2, '\xabcd', '\xabce'`, 20},
		{"artifacts with two words", "bytea, bytea, bigint, bigint, bytea", selectBoth, `'s', 'one', 0, 1000, 'two'`, 10_000},
	}
	// The role is one that row-level security binds.
	begin := `SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan; SET ROLE carrel; SET carrel.scope = '` + setting("s") + `';`
	plan, explain := begin, begin
	for i, q := range queries {
		plan += fmt.Sprintf("PREPARE q%d (%s) AS %s; EXECUTE q%[1]d (%[4]s);", i, q.types, q.sql, q.arguments)
		explain += fmt.Sprintf("\n\\echo ==\nEXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off) EXECUTE q%d (%s);", i, q.arguments)
	}
	fill := "RESET ROLE;" + manyRows
	rare := `INSERT INTO artifact_word (scope, word, seq) SELECT 's', convert_to('w' || i, 'UTF8'), i FROM generate_series(1, 5000) i; ANALYZE;`
	c := postgres.One(t)
	pages := regexp.MustCompile(`Buffers: shared hit=(\d+)`)
	for statistics, sql := range map[string]string{
		"none": fill + plan + explain, "new": fill + "ANALYZE;" + plan + explain, "of rare words": rare + fill + plan + explain, "of empty tables": plan + fill + explain,
	} {
		address := c.Database(t)
		openStore(t, address)
		for i, text := range strings.Split(c.SQL(t, address, sql), "==")[1:] {
			q := queries[i]
			found := pages.FindStringSubmatch(text) // of the outermost step, with all below it
			if found == nil {
				t.Fatalf("%s: no pages in the plan:\n%s", q.name, text)
			}
			if n, err := strconv.Atoi(found[1]); err != nil || n > q.most {
				t.Errorf("%s, statistics %s: reads %d pages, %v; want at most %d:\n%s", q.name, statistics, n, err, q.most, text)
			}
		}
	}
}
