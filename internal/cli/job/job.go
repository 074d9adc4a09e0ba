// Package job has what all commands share: the settings of a command line, the store that it
// opens, the session and files that it names, and the exit codes and hints of errors.
//
// One function turns an error into an exit code, see "carrel help exit-codes".
//
// Nothing here is safe for concurrent use.
package job

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A Job is one command line: its environment, its output and the settings that all commands
// share.
type Job struct {
	*Env
	*out.Out

	Verbose  int  // number of -v flags
	Started  bool // the command line was parsed
	Reporter *out.Progress

	store, scope, dir string
	config, profile   string
	offline           *pflag.Flag
	now               string
	timeout           time.Duration
	inputRead         bool // standard input was read
	settings          *config.Settings
	limited           context.Context // the context with the timeout, or nil
	release           context.CancelFunc
}

// New returns the job of one command line.
func New(env *Env) *Job {
	own := *env
	return &Job{Env: &own, Out: out.New(&own.Terminal)}
}

// Where returns the flags that choose the store and the scope, as the command line has them, each
// behind a blank.
func (j *Job) Where() string {
	var b strings.Builder
	for _, f := range [...][2]string{{"-C", j.dir}, {"-s", j.store}, {"--scope", j.scope}} {
		if value := f[1]; value != "" {
			if strings.ContainsAny(value, " \t'\"$\\*?;&|()<>`") {
				value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
			}
			b.WriteString(" " + f[0] + " " + value)
		}
	}
	return b.String()
}

// Register adds the flags that all commands have.
func (j *Job) Register(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&j.store, "store", "s", "", "`path` of the store (CARREL_STORE)")
	f.StringVar(&j.scope, "scope", "", "`tenant/project/agent` whose conversations these are (CARREL_SCOPE)")
	f.StringVarP(&j.config, "config", "c", "", "`file` whose settings win over the project's and yours (CARREL_CONFIG)")
	f.StringVar(&j.profile, "profile", "", "take the settings of profile `name` (CARREL_PROFILE)")
	f.Bool("offline", false, "make no network connections (CARREL_OFFLINE=1)")
	j.offline = f.Lookup("offline")
	f.StringVarP(&j.dir, "directory", "C", "", "run as if started in `dir`")
	f.StringVar(&j.JSON, "json", "", "print one JSON document, or only these `fields` of it (CARREL_JSON=1)")
	f.Lookup("json").NoOptDefVal = out.AllFields
	f.BoolVar(&j.NDJSON, "ndjson", false, "print lists as JSON, one entry a line")
	f.StringVar(&j.JQ, "jq", "", "apply a jq `expression` to the JSON")
	f.StringVar(&j.Template, "template", "", "apply a Go `template` to the JSON")
	f.BoolVarP(&j.Quiet, "quiet", "q", false, "print results and errors only")
	f.CountVarP(&j.Verbose, "verbose", "v", "log to standard error; twice for more (CARREL_LOG=debug)")
	f.StringVar(&j.Color, "color", "", "color: `when`, auto, always or never (CARREL_COLOR, NO_COLOR, CLICOLOR_FORCE)")
	f.BoolVar(&j.Raw, "raw", false, "print content to a terminal unchanged, including control characters")
	f.StringVar(&j.Progress, "progress", "", "`form` of progress: auto, plain, json or none (CARREL_PROGRESS)")
	f.StringVar(&j.now, "now", "", "take `time` for the clock (CARREL_NOW, SOURCE_DATE_EPOCH)")
	f.DurationVar(&j.timeout, "timeout", 0, "give up after a `duration` such as 30s (CARREL_TIMEOUT)")
}

// Start checks the settings before a command runs.
func (j *Job) Start(cmd *cobra.Command) error {
	if err := j.startJSON(); err != nil {
		return err
	}
	if err := j.startTimeout(cmd.Flags().Changed("timeout")); err != nil {
		return err
	}
	if dry := cmd.Flags().Lookup("dry-run"); dry != nil {
		j.Wrote = dry.Value.String() == "false"
	}
	if _, err := config.Clock(j.Getenv, j.now, j.Now); err != nil {
		return err
	}
	if j.dir != "" {
		if fi, err := os.Stat(j.Path("")); err != nil || !fi.IsDir() {
			return out.Usagef("-C: there is no folder %q", j.dir)
		}
	}
	if j.timeout > 0 {
		ctx, cancel := context.WithTimeout(cmd.Context(), j.timeout)
		j.limited, j.release = ctx, cancel
		cmd.SetContext(ctx)
	}
	j.Started = true
	if err := j.settle(cmd); err != nil {
		return err
	}
	return j.checkFiles(cmd)
}

// startTimeout checks the timeout. If the flag was not given, the timeout is that of the variable.
func (j *Job) startTimeout(given bool) error {
	from := "--timeout"
	if v := j.Getenv("CARREL_TIMEOUT"); v != "" && !given {
		d, err := time.ParseDuration(v)
		if err != nil {
			return out.Usagef("CARREL_TIMEOUT: %q is not a time span: give one such as 30s or 2m", v)
		}
		from, j.timeout = "CARREL_TIMEOUT", d
	}
	if j.timeout < 0 {
		return out.Usagef("%s: %s is below 0: give a time span such as 30s, or 0 for no limit", from, j.timeout)
	}
	return nil
}

// startJSON checks the flags for JSON output.
func (j *Job) startJSON() error {
	filtered := j.JQ != "" || j.Template != ""
	if j.JSON == "" && (out.IsTrue(j.Getenv("CARREL_JSON")) || filtered || j.NDJSON) {
		j.JSON = out.AllFields
	}
	if j.JQ != "" && j.Template != "" {
		return out.Usagef("--jq and --template: use only one")
	}
	if j.JQ != "" {
		if _, err := out.ParseQuery(j.JQ); err != nil {
			return err
		}
	}
	_, err := out.ParseTemplate(j.Template)
	return err
}

// settle loads the settings. It does nothing if a shell asks for completions, because the flags of
// the command on that line are not parsed yet.
func (j *Job) settle(cmd *cobra.Command) (err error) {
	if cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd {
		return nil
	}
	src, err := j.Sources()
	if err != nil {
		return err
	}
	src.NoFiles = cmd.Annotations[unsettled] != "" || cmd.Name() == "help"
	if j.settings, err = config.Load(src); err != nil {
		return err
	}
	j.Color, j.Progress = j.settings.Color(), j.settings.Progress()
	return nil
}

// Sources returns the sources of settings: files, variables and flags.
func (j *Job) Sources() (*config.Sources, error) {
	dir, err := filepath.Abs(j.Path(""))
	offline := ""
	if j.offline != nil && j.offline.Changed {
		offline = j.offline.Value.String()
	}
	return &config.Sources{Getenv: j.Getenv, Dir: dir, Flags: map[string]string{
		"--store": j.store, "--scope": j.scope, "--config": j.config, "--profile": j.profile,
		"--color": j.Color, "--progress": j.Progress, "--offline": offline,
	}}, err
}

// Settings returns the settings.
func (j *Job) Settings() (*config.Settings, error) {
	if j.settings != nil {
		return j.settings, nil
	}
	src, err := j.Sources()
	if err != nil {
		return nil, err
	}
	return config.Load(src)
}

// unsettled is the annotation of a command that reads no settings files.
const unsettled = "unsettled"

// WithoutFiles are the annotations of a command that reads no settings files,
// so that it does the same everywhere and works where one is broken.
func WithoutFiles() map[string]string { return map[string]string{unsettled: "yes"} }

// Path returns the path at which to open a file that the user named: a relative name is joined to
// the directory of the job.
func (j *Job) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	dir := j.dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(j.Dir, dir)
	}
	return filepath.Join(dir, name)
}

// StorePath returns the path of the store.
func (j *Job) StorePath() (string, error) {
	s, err := j.Settings()
	if err != nil {
		return "", err
	}
	return s.Store()
}

// Clock returns the clock for records.
func (j *Job) Clock() func() time.Time {
	now, err := config.Clock(j.Getenv, j.now, j.Now)
	if err != nil {
		return j.Now // Start reported the error
	}
	return now
}

// Logger returns a logger to standard error. It returns nil without -v and CARREL_LOG.
func (j *Job) Logger() *slog.Logger {
	level := slog.LevelInfo
	switch {
	case j.Verbose > 1, j.Getenv("CARREL_LOG") == "debug":
		level = slog.LevelDebug
	case j.Verbose == 0 && j.Getenv("CARREL_LOG") == "":
		return nil
	}
	opts := &slog.HandlerOptions{Level: level}
	if j.Getenv("CARREL_LOG_FORMAT") == "json" {
		return slog.New(slog.NewJSONHandler(j.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(j.Stderr, opts))
}

// Read returns the content of a file, see [agents.ReadFile], or of standard input for "-", which it
// reads only once.
func (j *Job) Read(name string) ([]byte, error) {
	if name == "-" {
		if j.inputRead {
			return nil, out.Usagef("-: only one argument or flag can be standard input: name a file for the other")
		}
		j.inputRead = true
		return io.ReadAll(j.Stdin)
	}
	return agents.ReadFile(j.Path(name))
}

// Asks reports whether a command asks before it erases something: not without a person at the
// terminal, and not with --yes or --dry-run. It fails if the person could not see the question.
func (j *Job) Asks(cmd *cobra.Command) (bool, error) {
	yes, _ := cmd.Flags().GetBool("yes") // false without such a flag
	dry, _ := cmd.Flags().GetBool("dry-run")
	yes = yes || dry
	if j.StdinTerminal && !j.StderrTerminal && !yes {
		return false, out.Usagef("-y: the question whether to erase cannot be shown, as standard error is no terminal: give -y to erase without it")
	}
	return j.StdinTerminal && !yes, nil
}

// Ask asks the person at the terminal.
func (j *Job) Ask(question string) bool {
	fmt.Fprintf(j.Stderr, "%s? [y/N] ", out.Visible(question))
	line, err := bufio.NewReader(j.Stdin).ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y")
}

// Writes adds the flags --dry-run and --yes to a command that writes.
func Writes(cmd *cobra.Command, dryRun *bool) {
	cmd.Flags().BoolVarP(dryRun, "dry-run", "n", false, "report the result and write nothing")
	cmd.Flags().BoolP("yes", "y", false, "answer yes to every question")
}

// FlagOrFile returns the value of a flag, which is in said, or the content of a file. flag and
// fileFlag are the names of the two flags. It fails if both are given.
func (j *Job) FlagOrFile(flag, said, fileFlag, file string) (string, error) {
	if said != "" && file != "" {
		return "", out.Usagef("%s and %s: use only one", flag, fileFlag)
	}
	if file == "" {
		return said, nil
	}
	data, err := j.Read(file)
	return string(data), err
}

// ParseTokens reads a number of tokens, such as "40000" or "40,000".
func ParseTokens(flag, s string) (token.Count, error) {
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(s), 10, 32)
	if err != nil || n < 0 {
		return 0, out.Usagef("%s: %q is not a number of tokens: give one such as 4000", flag, s)
	}
	return token.Count(n), nil
}

// ParseShare parses the value s of a flag that is a share, such as 0.95 or 95%. It refuses more
// than six decimals, because rounding could cross a threshold.
func ParseShare(flag, s string) (ratio.Ratio, error) {
	bare, isPercent := strings.CutSuffix(s, "%")
	places := 6
	if isPercent {
		places = 4
	}
	whole, decimals, _ := strings.Cut(bare, ".")
	if strings.Trim(whole+decimals, "0123456789") != "" || whole+decimals == "" || len(whole) > 6 {
		return 0, out.Usagef("%s: %q is not a share: give one such as 0.95 or 95%%", flag, s)
	}
	if len(strings.TrimRight(decimals, "0")) > places {
		return 0, out.Usagef("%s: %q has more than 6 decimals: round it", flag, s)
	}
	r, err := ratio.Parse(s)
	if err != nil {
		return 0, out.Usagef("%s: %q is not a share: give one such as 0.95 or 95%%", flag, s)
	}
	return r, nil
}

// ParseTTL parses a time to live.
func ParseTTL(s string) (*time.Duration, error) {
	d, err := config.ParseDuration(s)
	return &d, err
}

// Group returns the run function of a command that only has subcommands: it fails and names them.
func Group(name, below string) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return out.Usagef("unknown command %q for \"carrel %s\"", args[0], name)
		}
		return out.Usagef("%s: name one of %s", name, below)
	}
}

// Cause returns the signal or the timeout that caused an error. If there is neither, it returns err
// itself. It returns an [AgentError] unchanged.
func (j *Job) Cause(ctx context.Context, err error) error {
	if Is[*AgentError](err) {
		return err
	}
	if cause := context.Cause(ctx); err != nil && Is[*SignalError](cause) {
		return cause
	}
	if j.limited != nil && j.limited.Err() != nil && Status(err) == api.ExitBug {
		return j.limited.Err()
	}
	return err
}

// Close releases what the command line holds.
func (j *Job) Close() {
	if j.release != nil {
		j.release()
	}
}
