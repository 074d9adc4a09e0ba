package postgres

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/store/storetest"
)

// A check finds rows that were changed in the tables, also where their number is as it was, and
// migrations that are not those of this program.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	storetest.Fill(t, s, "mine")
	do := func(sql string) {
		err := s.transact(t.Context(), in("mine"), writing, func(t *tx) error {
			t.do("", sql)
			return t.flush()
		})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, damage := range []struct{ spoil, mend, want string }{
		{`UPDATE version SET version = version + 1 WHERE scope = 'mine'`, `UPDATE version SET version = version - 1 WHERE scope = 'mine'`, "is at version 2, its log has 1 entries up to 1"},
		{`UPDATE version SET version = 0 WHERE scope = 'mine'`, `UPDATE version SET version = 1 WHERE scope = 'mine'`, "is at version 0, its log has 1 entries up to 1"},
		{`DELETE FROM call_head WHERE scope = 'mine'`, `INSERT INTO call_head VALUES ('mine', 1)`, "the last call is 0, there are 1 up to 1"},
		{`UPDATE artifact_word SET word = word || 'x' WHERE scope = 'mine'`, `UPDATE artifact_word SET word = substr(word, 1, length(word) - 1) WHERE scope = 'mine'`, "index words: the words of"},
		{`UPDATE artifact_words SET words = words || '{x}' WHERE scope = 'mine'`, `UPDATE artifact_words SET words = words[1:cardinality(words) - 1] WHERE scope = 'mine'`, "index words: the words of"},
		{`UPDATE cell SET body = body || 'x', len = len + 1 WHERE cell_id = (SELECT cell_id FROM cell WHERE state <> 'purged' ORDER BY cell_id LIMIT 1)`, `UPDATE cell SET body = substr(body, 1, length(body) - 1), len = len - 1 WHERE cell_id = (SELECT cell_id FROM cell WHERE state <> 'purged' ORDER BY cell_id LIMIT 1)`, "its commitment does not match the body"},
		{`UPDATE segment SET pages = 3 * pages`, `UPDATE segment SET pages = pages / 3`, "the index of blocks is inconsistent"},
		{`UPDATE segment SET pages = -pages`, `UPDATE segment SET pages = -pages`, "the index of blocks is inconsistent"},
		{`UPDATE segment SET docs = docs || '\x80'`, `UPDATE segment SET docs = substr(docs, 1, length(docs) - 1)`, "the index of blocks is inconsistent"},
		{`UPDATE doc SET doc = doc + 1000`, `UPDATE doc SET doc = doc - 1000`, "index words: the words of"},
		{`UPDATE migration SET version = 1000 WHERE version = (SELECT max(version) FROM migration)`, `UPDATE migration SET version = (SELECT max(version) + 1 FROM migration WHERE version < 1000) WHERE version = 1000`, "schema: migration 1000 is recorded as"},
		{`UPDATE migration SET name = 'lamp' || name WHERE version = 2`, `UPDATE migration SET name = substr(name, 5) WHERE version = 2`, `schema: migration 2 is recorded as "lamp`},
	} {
		do(damage.spoil)
		problems, err := s.Check(t.Context())
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0], damage.want) {
			t.Errorf("%s: %q, %v; want a problem %q", damage.spoil, problems, err, damage.want)
		}
		do(damage.mend) // another test gets the database, with its migrations
	}
	do(`INSERT INTO migration SELECT max(version) + 1, 'later.sql' FROM migration`)
	problems, err := s.Check(t.Context())
	if err != nil || len(problems) != 2 || !strings.Contains(problems[1], "migrations are recorded, want") {
		t.Errorf("%q, %v; want that a migration is unknown, and that there is one too many", problems, err)
	}
	do(`DELETE FROM migration WHERE name = 'later.sql'`)
}
