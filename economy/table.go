package economy

import (
	_ "embed"
	"encoding/json"
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
	Input  Rate   // price of uncached prompt tokens; 0 if unknown
	Output Rate   // price of output tokens; 0 if unknown
	Rules

	Source string // origin of the row: the address of a page, or "settings"
	Date   string // when the row came into force or was read, such as "2025-11-24"
	Note   string // uncertainties of the row, or empty
}

// Priced reports whether both prices of m are known.
func (m *Tariff) Priced() bool { return m.Input > 0 && m.Output > 0 }

// Rules are the rules of a provider's cache. Prices are multiples of the input price.
type Rules struct {
	Read    ratio.Ratio // price of a token read from the cache
	Write5m ratio.Ratio // price of a token written for the short lifetime
	Write1h ratio.Ratio // price of a token written for the long lifetime; 0 if there is none

	Short time.Duration // the short lifetime; each read restarts it
	Long  time.Duration // the long lifetime; 0 if there is none

	Minimum   token.Count // shorter prefixes are not cached
	Marks     int         // the most breakpoints in a call; 0 if the provider sets them itself
	LookBack  int         // number of blocks before a breakpoint that are searched for a cached prefix
	Automatic bool        // every prefix is cached, without breakpoints
	Step      token.Count // numbers of read tokens are multiples of Step; 0 for no step
	FreeWrite bool        // writes are charged and reported like uncached input
}

// Lifetime returns how long a prefix stays cached after its last use: the long lifetime if
// long is set and the rules have one, otherwise the short.
func (r *Rules) Lifetime(long bool) time.Duration {
	if long && r.Long > 0 {
		return r.Long
	}
	return r.Short
}

// Warm reports whether a prefix is still cached at the time now if it was last used at the time in
// used. It is false if the lifetime is unknown.
func (r *Rules) Warm(used, now time.Time, long bool) bool {
	return now.Before(used.Add(r.Lifetime(long)))
}

// write returns the price of a written token, as a multiple of the input price.
func (r *Rules) write(long bool) ratio.Ratio {
	if long && r.Write1h > 0 {
		return r.Write1h
	}
	return r.Write5m
}

// A Table has the prices and rules of models. Its rows are searched in order. It is safe
// for concurrent use.
type Table struct{ rows []Tariff }

// Find returns a copy of the first row that matches a model. model is a name that the provider or a
// gateway uses, as for [token.ForModel]. Versions that gateways add to the names of Claude, such
// as -v1:0, do not count. A row matches a model with its name, alone or followed
// by -latest or a date, or, if the row ends with a star, a model whose name begins so. Points count
// as hyphens. The result is nil and false if no row matches.
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
			return nil, fmt.Errorf("prices: row %d has no model: give its name", i+1)
		}
	}
	return &Table{rows: slices.Concat(rows, t.rows)}, nil
}

// plain returns the name of a model in the form in which rows are compared: without the
// prefixes of gateways and their versions of Claude, without the suffix [1m] of models with a
// longer window, and with hyphens in place of dots.
func plain(model string) string {
	name := strings.TrimSuffix(token.BareName(model), "[1m]")
	if strings.HasPrefix(name, "claude-") {
		name = gatewayVersion.Get().ReplaceAllString(name, "$1")
	}
	return strings.ReplaceAll(name, ".", "-")
}

// gatewayVersion matches the version at the end of a name or before the date behind an @.
var gatewayVersion = lazy.Regexp(`-v[0-9]+(?::[0-9]+)?(@[0-9]+)?$`)

// fits reports whether the name of a row matches a plain model name: as a prefix if the row
// ends with a star, otherwise as a whole or with -latest or a date after it.
func fits(row, model string) bool {
	row = plain(row)
	if family, ok := strings.CutSuffix(row, "*"); ok {
		return strings.HasPrefix(model, family)
	}
	rest, ok := strings.CutPrefix(model, row)
	return ok && version.Get().MatchString(rest)
}

// version matches what may follow the name of a model: nothing, -latest, or a date such as -20251101,
// @20251101 or -2025-11-01.
var version = lazy.Regexp(`^(?:-latest|[-@][0-9]{8}|-[0-9]{4}-[0-9]{2}-[0-9]{2})?$`)

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

// A priceRow is a row of prices.json. Fields of ruleRow that it omits come from the rules that
// Rules names.
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

// A ruleRow has the rules of a cache in prices.json.
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

// parse parses the text of prices.json.
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
		if err := json.Unmarshal(raw, &row); err != nil { // again, so that its own fields replace those of the rules
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

// model returns the tariff of a row, without a name.
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
