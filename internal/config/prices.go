package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/ratio"
)

// The settings of the prices of a model, in dollars per million tokens. They open no connection
// and affect nothing that is stored, so a project's file may set them.
const (
	pricesOf     = "prices."
	priceInput   = pricesOf + "*.input"
	priceOutput  = pricesOf + "*.output"
	priceRead    = pricesOf + "*.read"
	priceWrite5m = pricesOf + "*.write_5m"
	priceWrite1h = pricesOf + "*.write_1h"
)

// readRate parses the price of a million tokens.
func readRate(l literal) (any, error) {
	r, err := economy.ParseRate(strings.ReplaceAll(l.text, "_", ""))
	if err != nil {
		return nil, errors.New("wants dollars for a million tokens, such as 3 or 0.075")
	}
	return r, nil
}

// prices returns the table of prices, with those of the settings first.
func (s *Settings) prices() (*economy.Table, error) {
	table := economy.Published()
	var rows []economy.Tariff
	done := make(map[string]bool)
	for i := range s.Values {
		v := &s.Values[i]
		if !strings.HasPrefix(v.key.name, pricesOf) || done[serverOf(v.Key)] {
			continue
		}
		done[serverOf(v.Key)] = true
		row, err := s.tariff(table, v)
		if err != nil {
			return nil, err
		}
		if _, err := table.With(row); err != nil {
			return nil, v.fail(errors.New("names no model: give the name of one, such as prices.gpt-5.input"))
		}
		rows = append(rows, row)
	}
	return table.With(rows...)
}

// tariff returns the prices of the model of a setting. Prices of the cache that no setting gives
// follow the rules for the vendor's other models. For an unknown vendor, reading and writing the
// cache cost the same as input.
func (s *Settings) tariff(table *economy.Table, of *Value) (economy.Tariff, error) {
	unknown := economy.Rules{Read: ratio.One, Write5m: ratio.One, Short: 5 * time.Minute, Minimum: 1024}
	model := serverOf(of.Key)
	row := economy.Tariff{Name: strings.TrimPrefix(model, pricesOf), Rules: unknown, Source: "settings"}
	if plain, err := strconv.Unquote(row.Name); err == nil {
		row.Name = plain // the name without the quotes that dotted added
	}
	if known, ok := table.Find(row.Name); ok {
		row.Rules = known.Rules
	}
	given := make(map[string]*Value)
	for i := range s.Values {
		if v := &s.Values[i]; strings.HasPrefix(v.key.name, pricesOf) && serverOf(v.Key) == model {
			given[v.key.name] = v
		}
	}
	for _, needed := range []string{priceInput, priceOutput} {
		if v := given[needed]; v == nil || v.Value == economy.Rate(0) {
			name := needed[strings.LastIndexByte(needed, '.'):]
			return row, of.fail(fmt.Errorf("wants %s%s, too, above 0: a model needs a price for input and one for output", model, name))
		}
	}
	row.Input, row.Output = given[priceInput].Value.(economy.Rate), given[priceOutput].Value.(economy.Rate)
	for name, to := range map[string]*ratio.Ratio{priceRead: &row.Read, priceWrite5m: &row.Write5m, priceWrite1h: &row.Write1h} {
		if v := given[name]; v != nil {
			*to = ratio.Of(v.Value.(economy.Rate), row.Input)
		}
	}
	return row, nil
}
