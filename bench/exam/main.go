// Command exam measures what windows still tell of conversations that were cut:
//
//	go run ./bench/exam -data FOLDER [-strategy account] [-share 10] EXAM.json...
//
// An exam is a JSON file with sessions: the path of a conversation below the folder, how many
// of its lines the agent had seen, and questions, each with the strings without which its
// answer cannot be given. The conversation is compressed until its window, written as text,
// fills the share of the bytes that the whole of it has. Package internal/exam says when a
// string counts. For each session the output has the share of the strings, the share of the
// questions of which all strings are there, and how full the window was.
//
// With -fit it prints weights for account/weights.txt, fitted to all sessions; with -loo each
// session is judged with weights fitted to the others.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/token"
)

func main() {
	var b bench
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/exam -data FOLDER [flags] EXAM.json...")
		flag.PrintDefaults()
	}
	flag.StringVar(&b.data, "data", ".", "`folder` that the paths of conversations are below")
	flag.IntVar(&b.share, "share", 10, "`percent` of the bytes of the conversation that a window may have")
	flag.StringVar(&b.strategy, "strategy", string(carrel.StrategyAccount), "`how` windows are made; none leaves them as they are")
	flag.StringVar(&b.only, "only", "", "`list` of the ids of the sessions to take")
	flag.StringVar(&b.out, "out", "", "write each window to a file in a `folder`")
	flag.StringVar(&b.weights, "weights", "", "`file` with the weights of needs, as bench/retention -fit prints them")
	flag.BoolVar(&b.fit, "fit", false, "print weights fitted to the sessions, and measure nothing")
	flag.BoolVar(&b.loo, "loo", false, "judge each session with weights fitted to the others")
	flag.BoolVar(&b.missed, "missed", false, "print the strings that windows lack")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := b.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "exam:", err)
		os.Exit(3)
	}
}

type bench struct {
	data, strategy, only, out, weights string
	share                              int
	missed, fit, loo                   bool
	model                              *facts.Model
	prior                              *account.Prior
}

func (b *bench) run(files []string) error {
	if b.weights != "" {
		data, err := os.ReadFile(b.weights)
		if err != nil {
			return err
		}
		if b.model, err = facts.ParseModel(string(data)); err != nil {
			return err
		}
	}
	sessions, err := b.sessions(files)
	if err != nil {
		return err
	}
	if b.fit || b.loo {
		return b.fitted(sessions)
	}
	var all exam.Score
	for _, s := range sessions {
		if err := b.judge(s, &all); err != nil {
			return err
		}
	}
	show("all", all)
	return nil
}

// sessions returns those of some exams that are asked for.
func (b *bench) sessions(files []string) ([]*exam.Session, error) {
	var all []*exam.Session
	for _, file := range files {
		e, err := exam.Read(file)
		if err != nil {
			return nil, err
		}
		for i := range e.Sessions {
			if s := &e.Sessions[i]; b.only == "" || slices.Contains(strings.Split(b.only, ","), s.ID) {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// judge prints the score of a session, and adds it to that of all.
func (b *bench) judge(s *exam.Session, all *exam.Score) error {
	window, limit, err := b.window(s)
	if err != nil {
		return fmt.Errorf("%s: %w", s.ID, err)
	}
	if b.out != "" {
		if err := os.WriteFile(filepath.Join(b.out, s.ID+".txt"), []byte(window), 0o600); err != nil {
			return err
		}
	}
	score := s.Score(window, limit)
	show(s.ID, score)
	if b.missed {
		for _, m := range score.Missed {
			fmt.Println("      missed", m)
		}
	}
	all.Add(score)
	return nil
}

func show(id string, s exam.Score) {
	fmt.Printf("%-4s strings %.3f  questions %.3f  used %.2f of %d\n", id, part(s.Strings, s.AllStrings), part(s.Questions, s.AllQuestions), part(s.Used, s.Limit), s.Limit)
}

func part(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

const scope = governance.Scope("exam")

// window returns the window of a session that fills its share best.
func (b *bench) window(s *exam.Session) (string, int, error) {
	history, err := s.History(b.data)
	if err != nil {
		return "", 0, err
	}
	ctx := context.Background()
	counter, err := token.Encoding("estimate")
	if err != nil {
		return "", 0, err
	}
	e, err := carrel.New(memory.New(), &carrel.Options{Counter: counter, Model: b.model, Prior: b.prior})
	if err != nil {
		return "", 0, err
	}
	in, err := e.Import(ctx, scope, &carrel.ImportRequest{Name: s.ID, Data: history})
	if err != nil {
		return "", 0, err
	}
	export := func() (string, error) {
		out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session, To: "openai"})
		if err != nil {
			return "", err
		}
		return exam.Render(out.Data)
	}
	whole, err := export()
	if err != nil {
		return "", 0, err
	}
	limit := len(whole) * b.share / 100
	if b.strategy == "none" {
		return whole, len(whole), nil
	}
	best := ""
	low, high := limit/12, limit/2
	for range 9 {
		at := (low + high) / 2
		res, err := e.Compress(ctx, scope, &carrel.CompressRequest{
			Session: in.Session, Target: token.Count(at), Strategy: carrel.Strategy(b.strategy), ProbeMin: new(ratio.Ratio),
		})
		if errors.Is(err, carrel.ErrBudget) {
			low = at
			continue
		}
		if err != nil {
			return "", 0, err
		}
		window, err := export()
		if err != nil {
			return "", 0, err
		}
		if res.Op != "" {
			if _, err := e.Undo(ctx, scope, &carrel.UndoRequest{Session: in.Session, Op: res.Op}); err != nil {
				return "", 0, err
			}
		}
		if len(window) > limit {
			high = at
			continue
		}
		if len(window) > len(best) {
			best = window
		}
		low = at
		if len(best)*100 >= limit*99 {
			break
		}
	}
	return best, limit, nil
}

// fitted prints weights fitted to sessions, or judges each with weights fitted to the others.
func (b *bench) fitted(sessions []*exam.Session) error {
	samples := make([]*exam.Sample, len(sessions))
	for i, s := range sessions {
		history, err := s.History(b.data)
		if err != nil {
			return err
		}
		f, err := carrel.Detect(history)
		if err != nil {
			return fmt.Errorf("%s: %w", s.ID, err)
		}
		t, err := f.Decode(s.ID, history)
		if err != nil {
			return fmt.Errorf("%s: %w", s.ID, err)
		}
		samples[i] = exam.NewSample(s, t, b.model)
	}
	if b.fit {
		fmt.Print(exam.Fit(samples))
		return nil
	}
	var all exam.Score
	for i, s := range sessions {
		b.prior = exam.Fit(slices.Concat(samples[:i], samples[i+1:]))
		if err := b.judge(s, &all); err != nil {
			return err
		}
	}
	show("all", all)
	return nil
}
