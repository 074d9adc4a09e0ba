// Command exam measures how many questions about cut conversations their windows answer:
//
//	go run ./bench/exam [-data FOLDER] [-methods account] [-share 10] EXAM.json...
//
// An exam is a JSON file with sessions: the path of a conversation, how many of its lines the
// agent had seen, and questions, each with the strings that its answer needs. Each method makes
// a window of the conversation, which is written as text and fills a share of the bytes of the
// whole; with -windows the texts of a folder are judged. Package internal/exam defines when a
// string counts. For each method the output has the share of the strings, the share of the
// questions with all strings, with intervals of 95 percent over questions, and how full the
// windows were; -each adds a line for each session.
//
// "carrel bench exam" does the same, and lets models answer and grade. Only this command has
// the following: with -peers bench/peers it compares methods of other packages, as in
// bench/retention. With -fit it prints weights for account/weights.txt, fitted to all sessions;
// with -loo it judges each session with weights fitted to the others.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/exam"
	"github.com/carrel-dev/carrel/internal/retention"
)

func main() {
	var b bench
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/exam [flags] EXAM.json...")
		flag.PrintDefaults()
	}
	flag.StringVar(&b.data, "data", "", "`folder` that the paths of conversations are below; that of the exam if not given")
	flag.IntVar(&b.share, "share", 10, "`percent` of the bytes of the conversation that a window may have")
	flag.StringVar(&b.methods, "methods", string(carrel.StrategyAccount), "`list` of methods, or all, carrel, baselines, peers; whole leaves conversations as they are")
	flag.StringVar(&b.windows, "windows", "", "judge the windows in a `folder`, and no methods")
	flag.StringVar(&b.peers, "peers", "", "`folder` of peers to run, too: bench/peers")
	flag.StringVar(&b.only, "only", "", "`list` of the ids of the sessions to take")
	flag.StringVar(&b.out, "out", "", "write each window to a file in a `folder`")
	flag.StringVar(&b.weights, "weights", "", "`file` with the weights of needs, as bench/retention -fit prints them")
	flag.BoolVar(&b.fit, "fit", false, "print weights fitted to the sessions, and measure nothing")
	flag.BoolVar(&b.loo, "loo", false, "judge each session with weights fitted to the others")
	flag.BoolVar(&b.each, "each", false, "print a line for each session, too")
	flag.BoolVar(&b.missed, "missed", false, "print the strings that windows lack")
	flag.BoolVar(&b.json, "json", false, "print JSON")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := b.run(context.Background(), os.Stdout, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "exam:", err)
		os.Exit(3)
	}
}

type bench struct {
	data, methods, windows, peers, only, out, weights string
	share                                             int
	missed, fit, loo, each, json                      bool
	model                                             *facts.Model
}

func (b *bench) run(ctx context.Context, out io.Writer, files []string) error {
	if b.weights != "" {
		data, err := os.ReadFile(b.weights)
		if err != nil {
			return err
		}
		if b.model, err = facts.ParseModel(string(data)); err != nil {
			return fmt.Errorf("%s: %w", b.weights, err)
		}
	}
	sessions, err := exam.ReadAll(files)
	if err != nil {
		return err
	}
	if b.only != "" {
		list := strings.Split(b.only, ",")
		sessions = slices.DeleteFunc(sessions, func(s *exam.Session) bool { return !slices.Contains(list, s.ID) })
	}
	samples, err := b.samples(sessions)
	if err != nil {
		return err
	}
	if b.fit {
		_, err := fmt.Fprint(out, exam.Fit(samples))
		return err
	}
	var peers []*retention.Peer
	if b.peers != "" {
		if peers, err = retention.StartPeers(ctx, b.peers); err != nil {
			return err
		}
	}
	err = b.measure(ctx, out, sessions, samples, peers)
	return cmp.Or(err, retention.ClosePeers(peers))
}

// samples returns the samples for fitting weights, or none unless the flags ask for a fit.
func (b *bench) samples(sessions []*exam.Session) ([]*exam.Sample, error) {
	if !b.fit && !b.loo {
		return nil, nil
	}
	samples := make([]*exam.Sample, len(sessions))
	for i, s := range sessions {
		history, err := s.History(b.data)
		if err != nil {
			return nil, err
		}
		f, err := carrel.Detect(history)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.ID, err)
		}
		t, err := f.Decode(s.ID, history)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.ID, err)
		}
		samples[i] = exam.NewSample(s, t, b.model)
	}
	return samples, nil
}

func (b *bench) measure(ctx context.Context, out io.Writer, sessions []*exam.Session, samples []*exam.Sample, peers []*retention.Peer) error {
	methods, err := exam.Methods(b.methods, exam.Peers(peers))
	if b.windows != "" {
		methods, err = exam.Folder(b.windows)
	}
	if err != nil {
		return err
	}
	sittings := make([]*exam.OpenSession, len(sessions))
	for i, s := range sessions {
		var prior *account.Prior
		if b.loo {
			prior = exam.Fit(slices.Concat(samples[:i], samples[i+1:]))
		}
		if sittings[i], err = s.Open(b.data, b.model, prior); err != nil {
			return err
		}
	}
	r, err := exam.Measure(ctx, sittings, methods, b.share, b.keep)
	if err != nil {
		return err
	}
	for _, p := range peers {
		if err := p.Err(); err != nil {
			return err
		}
	}
	if b.json {
		return r.JSON(out)
	}
	return b.print(out, r)
}

// keep writes a window to the folder for windows, if there is one.
func (b *bench) keep(w *exam.Window) error {
	if b.out == "" {
		return nil
	}
	path := filepath.Join(b.out, w.File())
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(w.Text), 0o600)
}

func (b *bench) print(out io.Writer, r *exam.Report) error {
	fmt.Fprintf(out, "%d sessions, %d questions, %d strings, windows of %d%% of %d bytes\n\n", r.Sessions, r.Questions, r.Strings, r.Share, r.Bytes)
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "method\tstrings\t\tquestions\t\tused\tover")
	for i := range r.Rows {
		row := &r.Rows[i]
		s, q := row.Strings, row.Questions
		fmt.Fprintf(t, "%s\t%s\t[%s–%s]\t%s\t[%s–%s]\t%s\t%d\n", row.Method, s.Mean.Short(), s.Low.Short(), s.High.Short(), q.Mean.Short(), q.Low.Short(), q.High.Short(), row.Used.Short(), row.Over)
		for k := range row.Sessions {
			s := &row.Sessions[k]
			if b.each {
				fmt.Fprintf(t, "  %s\t%d/%d\t\t%d/%d\t\t%d/%d\t\n", s.Session, s.Strings, s.AllStrings, s.Questions, s.AllQuestions, s.Bytes, s.Limit)
			}
			if b.missed {
				for _, m := range s.Missed {
					fmt.Fprintf(t, "    missed %s %s: %s\n", m.Question, m.Type, m.String)
				}
			}
		}
	}
	return t.Flush()
}
