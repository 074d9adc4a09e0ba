package llmtest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/llm"
)

var _ llm.Generator = (*Script)(nil)

func TestScript(t *testing.T) {
	s := &Script{Steps: []Step{
		Say("a"), {Text: "b", Stop: llm.StopLength, Usage: llm.Usage{Input: 1, Output: 2}}, Fail(llm.ErrReply),
	}, Model: "m", Tokens: 9}
	ask := func(text string) (*llm.Reply, error) { return s.Generate(t.Context(), &llm.Prompt{Text: text}) }
	got, err := ask("one")
	if diff := cmp.Diff(&llm.Reply{Text: "a", Model: "m", Stop: llm.StopEnd, Usage: llm.Usage{Input: 2, Output: 1}}, got); diff != "" || err != nil {
		t.Errorf("error %v, reply (-want +got):\n%s", err, diff)
	}
	got, err = ask("two")
	if diff := cmp.Diff(&llm.Reply{Text: "b", Model: "m", Stop: llm.StopLength, Usage: llm.Usage{Input: 1, Output: 2}}, got); diff != "" || err != nil {
		t.Errorf("error %v, reply (-want +got):\n%s", err, diff)
	}
	if _, err := ask("three"); !errors.Is(err, llm.ErrReply) {
		t.Errorf("error is %v, want ErrReply", err)
	}
	if _, err := s.Generate(t.Context(), &llm.Prompt{}); !errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("error after the last step is %v, want ErrUnavailable", err)
	}
	if p := s.Prompts(); len(p) != 4 || p[2].Text != "three" || s.Name() != "m" || s.Window() != 9 {
		t.Errorf("prompts are %+v of %s", p, s.Name())
	}
}

// A model that hangs does so until its caller gives up.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Script{Steps: []Step{Hang(), Say("late")}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := false
		go func() {
			_, err := s.Generate(ctx, &llm.Prompt{})
			if ended = true; !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v, want that of the context", err)
			}
		}()
		synctest.Wait()
		if ended {
			t.Error("the model does not hang")
		}
		cancel()
		synctest.Wait()
		if !ended {
			t.Error("the model hangs on")
		}
		if _, err := s.Generate(ctx, &llm.Prompt{}); !errors.Is(err, context.Canceled) || s.Calls() != 1 {
			t.Errorf("error is %v after %d calls, want that of the context after 1", err, s.Calls())
		}
	})
}

func TestScriptThatRepeats(t *testing.T) {
	s := &Script{Steps: []Step{Say("a"), Say("b")}, Repeat: true}
	var said string
	for range 4 {
		r, err := s.Generate(t.Context(), &llm.Prompt{})
		if err != nil {
			t.Fatal(err)
		}
		said += r.Text
	}
	if said != "abbb" {
		t.Errorf("said %q", said)
	}
}
