package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// An appended is a list of texts to whose end is appended, as one who serves it has it.
type appended interface {
	read(ctx context.Context) ([]string, error)

	// add adds a text if the list has so many, and fails otherwise.
	add(ctx context.Context, text string, at int) error
}

// A history is all that was done to a list, and what became of it. The zero value is that of an
// empty one. It is safe for concurrent use.
type history struct {
	mu    sync.Mutex
	clock int64 // it counts what has happened
	ops   []porcupine.Operation
	reads [][]string
}

// now returns the time.
func (h *history) now() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return h.clock
}

// A reading is the operation that finds out how many texts there are. An append is a string, the
// text, and finds out how many are before it.
type reading struct{}

// record records an operation that began at a time, ends now, and found a number of texts.
func (h *history) record(begun int64, op any, found int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	h.ops = append(h.ops, porcupine.Operation{Input: op, Call: begun, Output: found, Return: h.clock})
}

// read reads a list.
func (h *history) read(ctx context.Context, l appended) ([]string, error) {
	begun := h.now()
	have, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	h.record(begun, reading{}, len(have))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reads = append(h.reads, have)
	return have, nil
}

// append appends a text once, however often it has to be tried: each time it asks another for the
// list, and looks first whether an attempt that seemed to fail was made.
func (h *history) append(ctx context.Context, text string, list func() (appended, error)) error {
	begun := h.now()
	var last error
	for range 500 {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, last)
		}
		l, err := list()
		if err != nil {
			return err
		}
		have, err := h.read(ctx, l)
		if err != nil {
			last = err
			continue
		}
		at := slices.Index(have, text)
		if at < 0 {
			at = len(have)
			if last = l.add(ctx, text, at); last != nil {
				continue
			}
		}
		h.record(begun, text, at)
		return nil
	}
	return fmt.Errorf("%s: %w", text, last)
}

// listModel is a list of which is known how many texts it has.
var listModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		_, reads := input.(reading)
		switch {
		case state != output:
			return false, state
		case reads:
			return true, state
		}
		return true, output.(int) + 1
	},
}

// judge returns what is wrong with what is in a list in the end, given all that was done to it:
// each text is there once, where who appended it was told; each reading has found a beginning of
// it; and all of it is linearizable, so that it might have happened one after the other.
func (h *history) judge(have []string) (problems []string) {
	places := make(map[string]int, len(have))
	for i, text := range have {
		if _, twice := places[text]; twice {
			problems = append(problems, text+" is there twice")
		}
		places[text] = i
	}
	acknowledged := 0
	for _, op := range h.ops {
		text, is := op.Input.(string)
		if !is {
			continue
		}
		acknowledged++
		if at, ok := places[text]; !ok {
			problems = append(problems, text+" is lost")
		} else if at != op.Output {
			problems = append(problems, fmt.Sprintf("%s is at %d, its writer was told %d", text, at, op.Output))
		}
	}
	if len(have) != acknowledged {
		problems = append(problems, fmt.Sprintf("%d texts are there, %d were acknowledged", len(have), acknowledged))
	}
	for _, read := range h.reads {
		if len(read) > len(have) || !slices.Equal(read, have[:len(read)]) {
			problems = append(problems, fmt.Sprintf("%d texts were read that are no beginning of what is there", len(read)))
		}
	}
	if got := porcupine.CheckOperationsTimeout(listModel, h.ops, time.Minute); got != porcupine.Ok {
		problems = append(problems, fmt.Sprintf("is it linearizable? porcupine says %s", got))
	}
	return problems
}

// A faultyList is a list in memory, with a fault that shows every few times.
type faultyList struct {
	mu    sync.Mutex
	texts []string
	calls int
	fault string
}

// shows reports whether the fault shows now, if it is this one.
func (l *faultyList) shows(fault string) bool {
	l.calls++
	return l.fault == fault && l.calls%7 == 0
}

func (l *faultyList) read(context.Context) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shows("reads what was") {
		return slices.Clone(l.texts[:len(l.texts)/2]), nil
	}
	return slices.Clone(l.texts), nil
}

var errElsewhere = errors.New("the list has another length")

func (l *faultyList) add(_ context.Context, text string, at int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.shows("forgets"):
		return nil
	case l.shows("overwrites") && len(l.texts) > 0:
		l.texts[len(l.texts)-1] = text
		return nil
	case at != len(l.texts):
		return errElsewhere
	case l.shows("doubles"):
		l.texts = append(l.texts, text)
	case l.shows("takes another's for its own") && at > 0: // what nodes did that knew entries by their ids
		return nil
	}
	l.texts = append(l.texts, text)
	return nil
}

// The judge has nothing against a list that is sound, and finds each fault.
func TestJudgeBites(t *testing.T) {
	for fault, says := range map[string]string{
		"": "", "reads what was": "linearizable", "forgets": "is lost", "overwrites": "is lost", "doubles": "is there twice",
		"takes another's for its own": "is lost",
	} {
		t.Run(fault, func(t *testing.T) {
			l := &faultyList{fault: fault}
			var h history
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					for n := range 20 {
						if err := h.append(t.Context(), fmt.Sprintf("writer %d, text %d", i, n), func() (appended, error) { return l, nil }); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if got := strings.Join(h.judge(l.texts), "; "); (says == "") != (got == "") || !strings.Contains(got, says) {
				t.Errorf("the judge says %q, want %q", got, says)
			}
		})
	}
}
