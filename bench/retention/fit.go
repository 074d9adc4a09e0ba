package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/retention"
)

// fit prints the weights that the sessions of some families give.
func (b *bench) fit(out io.Writer, all []*retention.Trajectory) error {
	o := retention.FitOptions{}
	if b.fitTo != "all" {
		o.Families = strings.Split(b.fitTo, ",")
	}
	_, err := fmt.Fprintf(out, "# weights fitted to %s\n%s", b.fitTo, retention.Fit(all, &o))
	return err
}

// prepare finds the weights to judge with: those that Carrel comes with, those of a
// file, or for each family those fitted to others.
func (b *bench) prepare(all []*retention.Trajectory) error {
	b.fitted = make(map[string]*facts.Model)
	switch {
	case b.weights != "" && b.cross != "":
		return fmt.Errorf("weights are of a file, or fitted across families: -weights %s and -cross %s", b.weights, b.cross)
	case b.weights != "":
		text, err := os.ReadFile(b.weights)
		if err != nil {
			return err
		}
		if b.fitted[""], err = facts.ParseModel(string(text)); err != nil {
			return fmt.Errorf("%s: %w", b.weights, err)
		}
	case b.cross != "":
		list := strings.Split(b.cross, ",")
		if len(list) < 2 {
			return fmt.Errorf("-cross %s: one family cannot be judged by others", b.cross)
		}
		for _, name := range list {
			if !slices.ContainsFunc(all, func(t *retention.Trajectory) bool { return t.Family == name }) {
				return fmt.Errorf("-cross %s: there is no family %q", b.cross, name)
			}
			others := slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
			b.fitted[name] = retention.Fit(all, &retention.FitOptions{Families: others})
		}
		b.fitted[""] = retention.Fit(all, &retention.FitOptions{Families: list})
	}
	return nil
}

// models returns the weights for a family, or nil for those that Carrel comes with.
func (b *bench) models(family string) *facts.Model {
	if m := b.fitted[family]; m != nil {
		return m
	}
	return b.fitted[""]
}
