package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// readFaults reads deliberate faults. A fault is a paragraph of lines that begin with a word
// and a tab:
//
//	fault	the promise that is broken
//	file	the file, from the root of the module
//	old	a line of it, or a part of one, that is there once
//	new	what stands there in the fault
//	run	the go command that must fail; there may be several, and each must
//
// Behind another tab, a run line may have a text that the output of the command must contain,
// so that a failure for another reason does not count. A run that tests one property has the
// form
//
//	run	test -run ^TestName$ ./package
//
// and its output must say that this property fails.
func readFaults(name string) ([]*mutant, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []*mutant
	line := 1
	for paragraph := range strings.SplitSeq(string(data), "\n\n") {
		found, err := readFault(paragraph)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		all = append(all, found...)
		line += strings.Count(paragraph, "\n") + 2
	}
	return all, nil
}

// readFault returns a mutant for each command of a fault.
func readFault(paragraph string) ([]*mutant, error) {
	fields := make(map[string]string)
	var runs []string
	for line := range strings.Lines(paragraph) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, value, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("%q: want one of the words fault, file, old, new and run, a tab, and a value", line)
		}
		if word == "run" {
			runs = append(runs, value)
		} else {
			fields[word] = value
		}
	}
	if len(fields) == 0 && runs == nil {
		return nil, nil
	}
	data, err := os.ReadFile(fields["file"])
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(data, []byte(fields["old"])); n != 1 || fields["old"] == "" {
		return nil, fmt.Errorf("fault %q: %q is %d times in %s, want once", fields["fault"], fields["old"], n, fields["file"])
	}
	at := bytes.Index(data, []byte(fields["old"]))
	var all []*mutant
	for _, run := range runs {
		m := &mutant{
			file: &file{name: fields["file"], data: data}, line: 1 + bytes.Count(data[:at], []byte("\n")),
			from: at, to: at + len(fields["old"]), text: fields["new"],
		}
		run, m.says, _ = strings.Cut(run, "\t")
		m.what = fields["fault"] + ": go " + run
		m.run = strings.Fields(run)
		m.command = m.run
		if name, _, ok := property(run); ok {
			m.says = "--- FAIL: " + name
			m.command = slices.Concat(m.run[:1], []string{"-vet=off"}, m.run[1:], []string{"-rapid.checks=2000", "-rapid.nofailfile", "-rapid.shrinktime=0s"})
		}
		all = append(all, m)
	}
	if all == nil {
		return nil, fmt.Errorf("fault %q: want a run line with the go command that must fail", fields["fault"])
	}
	return all, nil
}

// property returns the test and the package of a run line that tests one property. ok is
// false for any other run line.
func property(run string) (name, pkg string, ok bool) {
	words := strings.Fields(run)
	if len(words) != 4 || words[0] != "test" || words[1] != "-run" {
		return "", "", false
	}
	return strings.Trim(words[2], "^$"), words[3], true
}
