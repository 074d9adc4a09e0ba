package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/demo"
	"github.com/carrel-dev/carrel/store"
)

func newDoctor(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find out why Carrel does not work",
		Long: `Doctor checks the program on the PATH, the settings, the store, the version of Claude Code with
its hooks, MCP server and transcripts, whether a proxy listens where agents send their calls, the
other agents on this machine that "carrel setup" can set up, and whether providers would accept
what Carrel writes. For each it prints a line with ok, warn or fail, the finding, and the next
step.

It changes nothing, except that it makes and removes one file beside the store. If a check fails,
the exit code is 1; warnings leave it at 0.`,
		Example:     `  carrel doctor`,
		Args:        cobra.NoArgs,
		Annotations: job.WithoutFiles(), // doctor reports broken settings files itself
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{j: j, root: cmd.Root()}
			res := &doctorResult{Healthy: true, Checks: []doctorCheck{}}
			for _, check := range d.checks() {
				if c := check(cmd.Context()); c.Name != "" {
					res.Checks = append(res.Checks, c)
					res.Healthy = res.Healthy && c.State != stateFail
				}
			}
			err := j.Result("doctor", res, func(p *out.Page) {
				for i := range res.Checks {
					c := &res.Checks[i]
					p.Line("%-4s  %-11s  %s", c.State, c.Name, c.Detail)
					if c.Advice != "" {
						p.Line("      %-11s  %s", "", c.Advice)
					}
				}
			})
			if err == nil && !res.Healthy {
				return out.ErrNo
			}
			return err
		},
	}
}

// checks returns the checks in order. A check that returns no name does not apply and is skipped.
func (d *doctor) checks() []func(context.Context) doctorCheck {
	all := []func(context.Context) doctorCheck{d.program, d.settings, d.store, d.client, d.hooks, d.server, d.proxy, d.transcripts}
	for _, c := range clients() {
		if c.doctor == nil {
			continue
		}
		all = append(all, func(ctx context.Context) doctorCheck {
			if found := c.doctor.check(ctx, d, c); found != nil {
				return *found
			}
			return doctorCheck{}
		})
	}
	return append(all, d.validator)
}

// A doctorResult is the result of all checks.
type doctorResult struct {
	Healthy bool          `json:"healthy"`
	Checks  []doctorCheck `json:"checks"`
}

type doctorCheck struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, warn or fail
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // the next step
}

const (
	stateOK   = "ok"
	stateWarn = "warn" // Carrel works without it
	stateFail = "fail"
)

// doctorPatience is the most time that a program may take to answer.
const doctorPatience = 10 * time.Second

// A doctor runs the checks.
type doctor struct {
	j    *job.Job
	root *cobra.Command
}

func (d *doctor) program(context.Context) doctorCheck {
	c := doctorCheck{Name: "program", State: stateOK}
	self, err := os.Executable()
	if err != nil {
		self = "carrel"
	}
	found, err := exec.LookPath("carrel")
	switch {
	case err != nil:
		c.State, c.Detail = stateWarn, "carrel is not on the PATH"
		c.Advice = "put the folder of " + self + " on the PATH: the plug-in and the stubs call it by its name"
	case !sameFile(found, self):
		c.State, c.Detail = stateWarn, fmt.Sprintf("the PATH has %s, and this is %s", found, self)
		c.Advice = "keep one of them"
	default:
		c.Detail = found
	}
	return c
}

func (d *doctor) load() (*config.Settings, error) {
	src, err := d.j.Sources()
	if err != nil {
		return nil, err
	}
	return config.Load(src)
}

func (d *doctor) settings(context.Context) doctorCheck {
	s, err := d.load()
	if err != nil {
		return doctorCheck{"settings", stateFail, err.Error(), "hooks print nothing until the file is right: carrel config show"}
	}
	return doctorCheck{Name: "settings", State: stateOK, Detail: "profile " + s.Profile}
}

func (d *doctor) store(ctx context.Context) doctorCheck {
	const elsewhere = "choose another place: --store, CARREL_STORE or the setting store"
	s, err := d.load()
	if err != nil {
		return doctorCheck{"store", stateFail, "its place is not known: the settings cannot be read", "see above"}
	}
	path, err := s.Store()
	if err == nil && !config.IsAddress(path) {
		err = writable(path)
	}
	if err != nil {
		return doctorCheck{"store", stateFail, err.Error(), elsewhere}
	}
	unmade := doctorCheck{Name: "store", State: stateOK, Detail: path + ": it will be made when it is needed"}
	if !config.Exists(path) {
		return unmade
	}
	switch err := ready(ctx, s, path); {
	case err == nil:
		return doctorCheck{Name: "store", State: stateOK, Detail: path}
	case config.IsAddress(path) && errors.Is(err, store.ErrNotFound):
		return unmade
	case errors.Is(err, store.ErrUnreadable): // it says itself what to do, such as to migrate the store
		return doctorCheck{Name: "store", State: stateFail, Detail: err.Error()}
	case config.IsAddress(path):
		return doctorCheck{"store", stateFail, err.Error(), elsewhere}
	default:
		return doctorCheck{"store", stateFail, fmt.Sprintf("%s: %v", path, err), "carrel store check says more; carrel store restore puts a backup in its place"}
	}
}

// ready returns an error if a store cannot be used. It opens the store for writing only after it
// has opened it for reading, which fails if opening it for writing would migrate or create it.
func ready(ctx context.Context, s *config.Settings, place string) error {
	reading, err := s.OpenReading(ctx, place)
	if err != nil {
		return err
	}
	if err := reading.Close(); err != nil {
		return err
	}
	st, err := s.Open(ctx, place, false)
	if err != nil {
		return err
	}
	return errors.Join(st.Ready(ctx), st.Close())
}

// writable returns an error if a file cannot be written, or created with its missing folders.
func writable(path string) error {
	if fi, err := os.Stat(path); err == nil {
		if fi.IsDir() {
			return fmt.Errorf("%s is a folder: want the path of a file", path)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	dir := filepath.Dir(path)
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".carrel-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (d *doctor) transcripts(context.Context) doctorCheck {
	dir, err := agents.ClaudeProjects(d.j.Getenv)
	if err != nil {
		return doctorCheck{Name: "transcripts", State: stateWarn, Detail: err.Error()}
	}
	files, err := fs.Glob(os.DirFS(dir), "*/*.jsonl")
	if err == nil {
		_, err = os.ReadDir(dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return doctorCheck{"transcripts", stateWarn, dir + " is not there", "it will be once Claude Code has run"}
	case err != nil:
		return doctorCheck{"transcripts", stateFail, err.Error(), "give this user the right to read the file"}
	}
	for _, name := range files {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return doctorCheck{"transcripts", stateFail, err.Error(), "give this user the right to read the file"}
		}
		if err := f.Close(); err != nil {
			return doctorCheck{Name: "transcripts", State: stateFail, Detail: err.Error()}
		}
	}
	return doctorCheck{Name: "transcripts", State: stateOK, Detail: fmt.Sprintf("%s in %s", out.Count(len(files), "session"), dir)}
}

// refused is a request that every provider refuses, because it has a tool result without a tool
// call.
const refused = `{"model":"claude-opus-4-6","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"?"}]}]}`

func (d *doctor) validator(ctx context.Context) doctorCheck {
	_, violations, err := carrel.Validate("anthropic", []byte(refused))
	if err == nil && len(violations) == 0 {
		err = errors.New("it accepts a request that every provider refuses")
	} else if err == nil {
		err = d.roundTrip(ctx)
	}
	if err != nil {
		return doctorCheck{Name: "validator", State: stateFail, Detail: err.Error(), Advice: "this is an error in Carrel: please report it"}
	}
	return doctorCheck{Name: "validator", State: stateOK, Detail: "a conversation was compressed, and would be accepted"}
}

// roundTrip imports the conversation of the demo, compresses it, and validates the export.
func (d *doctor) roundTrip(ctx context.Context) error {
	e, err := carrel.New(config.Scratch(), &carrel.Options{Now: d.j.Clock()})
	if err != nil {
		return err
	}
	const scope = "doctor"
	in, err := e.Import(ctx, scope, &carrel.ImportRequest{Name: "demo.jsonl", Data: demo.Session()})
	if err != nil {
		return err
	}
	if _, err := e.Compress(ctx, scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: in.Tokens / 2}}); err != nil {
		return err
	}
	out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session})
	if err != nil {
		return err
	}
	_, violations, err := carrel.Validate(in.Format, out.Data)
	if len(violations) > 0 {
		return fmt.Errorf("the provider would refuse the compressed conversation: %v", violations[0])
	}
	return err
}
