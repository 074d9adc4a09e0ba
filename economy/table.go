package economy

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A Tariff is a row of a [Table]: the prices of a model or a family of
// models, and the rules of its cache.
type Tariff struct {
	Name   string // such as "claude-opus-4-5", or "claude-*" for a prefix
	Input  Rate   // of a prompt's tokens outside of the cache; 0 if it is not known
	Output Rate   // 0 if it is not known
	Rules

	Source string // where the row is from: a page, or "settings"
	Date   string // since when it holds or when it was read, such as "2025-11-24"
	Note   string // uncertainties of the row, or empty
}

// Priced reports whether money can be reckoned with m.
func (m *Tariff) Priced() bool { return m.Input > 0 && m.Output > 0 }

// Rules say how the cache of a provider works. The multiples are of the input price.
type Rules struct {
	Read    ratio.Ratio // price of a token read from the cache
	Write5m ratio.Ratio // price of a token written for the short lifetime
	Write1h ratio.Ratio // price of a token written for the long lifetime; 0 if there is none

	Short time.Duration // the short lifetime; each read begins it anew
	Long  time.Duration // the long lifetime, or 0

	Minimum   token.Count // prefixes shorter than that are not kept
	Marks     int         // at most so many breakpoints in a call; 0 if the provider sets them itself
	LookBack  int         // number of blocks before a breakpoint that are searched for a cached prefix
	Automatic bool        // every prefix is kept, without breakpoints
	Step      token.Count // reads are multiples of it; 0 for no step
	FreeWrite bool        // writes are charged and reported like uncached input
}

// Lifetime returns how long a prefix is kept after its last use: the long lifetime if it
// was written for that.
func (r *Rules) Lifetime(long bool) time.Duration {
	if long && r.Long > 0 {
		return r.Long
	}
	return r.Short
}

// Warm reports whether a prefix that was last used at the time used is still
// cached at now. It is false without knowledge of the cache.
func (r *Rules) Warm(used, now time.Time, long bool) bool {
	return now.Before(used.Add(r.Lifetime(long)))
}

// write returns the multiple for what is written.
func (r *Rules) write(long bool) ratio.Ratio {
	if long && r.Write1h > 0 {
		return r.Write1h
	}
	return r.Write5m
}

// A Table has the prices and rules of models. Its rows are searched in order. It is safe
// for concurrent use.
type Table struct{ rows []Tariff }

// Find returns the row of a model, by the name of its provider or a gateway,
// as [token.ForModel] accepts it. A row matches a model with its name, alone
// or followed by a date; points count as hyphens. The result is false if no
// row matches.
func (t *Table) Find(model string) (*Tariff, bool) {
	name := plain(model)
	for i := range t.rows {
		if fits(t.rows[i].Name, name) {
			return new(t.rows[i]), true
		}
	}
	return nil, false
}

// Rows returns all rows, in the order in which they are searched.
func (t *Table) Rows() []Tariff { return slices.Clone(t.rows) }

// With returns a table that has rows before those of t. It fails if a row has
// no name.
func (t *Table) With(rows ...Tariff) (*Table, error) {
	for i := range rows {
		if plain(rows[i].Name) == "" {
			return nil, errors.New("a row of prices has no model")
		}
	}
	return &Table{rows: slices.Concat(rows, t.rows)}, nil
}

// plain returns the name of a model without the dress of gateways, dates and the mark of a
// longer window.
func plain(model string) string {
	return strings.ReplaceAll(strings.TrimSuffix(token.BareName(model), "[1m]"), ".", "-")
}

// fits reports whether the name of a row is for a model. Both are plain, but for the star
// that may end the name of a row.
func fits(row, model string) bool {
	row = plain(row)
	if family, ok := strings.CutSuffix(row, "*"); ok {
		return strings.HasPrefix(model, family)
	}
	rest, ok := strings.CutPrefix(model, row)
	return ok && (rest == "" || rest == "-latest" || dated(rest))
}

// dated reports whether rest is a date behind the name of a model: -20251101, @20251101 or
// -2025-11-01.
func dated(rest string) bool {
	if rest[0] != '-' && rest[0] != '@' {
		return false
	}
	digits := strings.ReplaceAll(rest[1:], "-", "")
	return len(digits) == 8 && strings.Trim(digits, "0123456789") == ""
}

// Published returns the prices that vendors publish. The file prices.json
// names the source and the date of each row.
func Published() *Table { return published.Get() }

//go:embed prices.json
var prices string

var published = &lazy.Value[*Table]{Make: func() *Table {
	t, err := parse(prices)
	if err != nil {
		panic("economy: prices.json: " + err.Error())
	}
	return t
}}

// A priceRow is a row of prices.json. What it does not say, it has from its rules.
type priceRow struct {
	Models []string `json:"models"`
	Input  string   `json:"input"`  // dollars for a million tokens
	Output string   `json:"output"` // dollars for a million tokens
	Source string   `json:"source"`
	Date   string   `json:"date"`
	Note   string   `json:"note"`
	Rules  string   `json:"rules"` // name of its rules
	ruleRow
}

// A ruleRow is how a cache works, in prices.json.
type ruleRow struct {
	Read      ratio.Ratio `json:"read"`
	Write5m   ratio.Ratio `json:"write_5m"`
	Write1h   ratio.Ratio `json:"write_1h"`
	Short     string      `json:"short"`
	Long      string      `json:"long"`
	Minimum   token.Count `json:"minimum"`
	Marks     int         `json:"marks"`
	LookBack  int         `json:"look_back"`
	Automatic bool        `json:"automatic"`
	Step      token.Count `json:"step"`
	FreeWrite bool        `json:"free_write"`
}

// parse reads prices.json.
func parse(text string) (*Table, error) {
	var file struct {
		About  string             `json:"about"`
		Rules  map[string]ruleRow `json:"rules"`
		Models []json.RawMessage  `json:"models"`
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return nil, err
	}
	t := &Table{}
	for i, raw := range file.Models {
		var row priceRow
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, fmt.Errorf("models[%d]: %w", i, err)
		}
		rules, ok := file.Rules[row.Rules]
		if !ok {
			return nil, fmt.Errorf("models[%d]: no rules are named %q", i, row.Rules)
		}
		row.ruleRow = rules
		if err := json.Unmarshal(raw, &row); err != nil { // what it says itself
			return nil, fmt.Errorf("models[%d]: %w", i, err)
		}
		m, err := row.model()
		if err != nil {
			return nil, fmt.Errorf("models[%d]: %w", i, err)
		}
		for _, name := range row.Models {
			m.Name = name
			t.rows = append(t.rows, m)
		}
	}
	return t, nil
}

// model returns what a row says, without a name.
func (row *priceRow) model() (m Tariff, err error) {
	m = Tariff{Source: row.Source, Date: row.Date, Note: row.Note, Rules: Rules{
		Read: row.Read, Write5m: row.Write5m, Write1h: row.Write1h, Minimum: row.Minimum, Marks: row.Marks,
		LookBack: row.LookBack, Automatic: row.Automatic, Step: row.Step, FreeWrite: row.FreeWrite,
	}}
	for _, r := range []struct {
		text string
		to   *Rate
	}{{row.Input, &m.Input}, {row.Output, &m.Output}} {
		if r.text != "" {
			if *r.to, err = ParseRate(r.text); err != nil {
				return m, err
			}
		}
	}
	for _, d := range []struct {
		text string
		to   *time.Duration
	}{{row.Short, &m.Short}, {row.Long, &m.Long}} {
		if d.text != "" {
			if *d.to, err = time.ParseDuration(d.text); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}
