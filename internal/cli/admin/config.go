package admin

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
)

// TopicConfig is the help about settings.
const TopicConfig = `Settings come from flags, the environment and files. The first that says
something of a key wins:

  1  the flag: --store, --window, --target, --keep-last, ...
  2  the environment: CARREL_STORE, ..., see "carrel help env"
  3  the file that --config or CARREL_CONFIG names
  4  the project's: config.toml in the nearest folder named .carrel, here or
     above
  5  the user's: $XDG_CONFIG_HOME/carrel/config.toml, which is in ~/.config
     otherwise, and in %APPDATA% on Windows
  6  what is built in

The files are TOML. All keys, with examples:

  store = "team.db"    # beside the file; ~/ is the user's folder. Without it
                       # a project has .carrel/carrel.db
  scope = "acme/web"   # tenant/project/agent
  offline = false      # true connects to nothing, as --offline does

  [budget]
  window = 200_000     # tokens; the model's context window if not set
  target = 0.50        # of what was imported, also "50%"; a whole number is
                       # tokens; half of the window if not set
  effective = 160_000  # tokens of the window that are of use; 80% if not set
  floor = 30_000       # tokens below which no discard goes; if not set, these
                       # or 30% of the window, whichever is less
  warn = 0.60          # shares of what is of use, at which a window has another
  compress = 0.70      # level: carrel help context level
  critical = 0.90

  [tools]              # what tools do that Carrel does not know: edit, plan,
  my_patcher = "edit"  # read, command, check, title or other. Rules keep edits
                       # and plans: carrel help discard

  [keep]
  last = 5             # newest blocks that never leave; 0 for none

  [compress]
  strategy = "account"     # how a window is made smaller: carrel help summaries

  [probes]
  accept = 0.90        # share of probes that a compression must answer

  [retention]          # of the pager's formula; each from 0 to 1
  alpha = 0.7          # weight of relevance
  beta = 0.3           # weight of recency
  retain = 0.55        # score from which a block is retained
  evict = 0.20         # score below which it is evicted

  [tiers]              # shares of the budget at which a context is degraded
  full = 0.80          # full below it
  summarized = 0.95    # summarized below it
  core = 1.10          # core up to it, and minimal above

  [assemble]
  page = 2_000         # tokens of one artifact; of a larger one a context has
                       # the passages that have most to do with the question

  [gate]
  confidence = 0.7     # that a memory needs, or else it waits for review

  [triage]             # what decides which artifacts are worth a place
  admit = 50           # that go on from pass one
  deep = 20            # of them, that pass two scores
  trust = 0.2          # a class that ranks below does not enter
  red = 0.6            # score from which an artifact goes in first
  yellow = 0.35        # score below which it is left out
  floor = 0.05         # likeness to the query below which it is, whatever its score
  curve = "half-life"  # of recency, or "log"
  half_life.tool = "1d"
  weights.tool = [0.5, 0.25, 0.25]  # recency, provenance, semantics; sum is 1

  [sources]            # that may be asked; none that is not listed
  files = ["docs"]     # folders, within the project if its file says so
  hosts = ["docs.example.org", "*.example.net", "localhost:8080"]
  private = false      # true: also addresses of this machine and network *
  allow = []           # such as ["10.1.0.0/16"], whatever they are *
  limit = "16MiB"      # of one artifact
  timeout = "30s"
  mcp.wiki.url = "https://wiki.example.org/mcp"
  mcp.notes.command = ["notes-server", "--stdio"]  # *

  [embed]              # what texts mean; words are compared if nothing is set
  url = ""             # of an API like OpenAI's *
  model = ""           # its name there
  key_file = ""        # a file with the key *; or set CARREL_EMBED_KEY
  dimensions = 384     # the model's if not set
  timeout = "30s"
  batch = 32           # texts a request
  static = ""          # or: a folder with static embeddings; no network

  [generate]           # a model that writes drafts of summaries, also for the
                       # strategy account, and answers and grades for carrel
                       # bench exam; none if not set.
                       # All of this table: *
  api = "openai"       # or "anthropic"
  url = ""             # such as "http://localhost:11434"
  model = ""           # its name there
  key_file = ""        # a file with the key; or set CARREL_GENERATE_KEY
  timeout = "5m"       # of a request
  retries = 2          # of a request that is turned away; 0 for none
  max_tokens = 4_096   # of a reply
  window = 8_192       # tokens that prompt and reply may have together
  ceiling = 0          # tokens that a run of carrel may spend; with 0 nothing is
                       # sent, and programs do what the model would
  calls = 200          # that a run may make

  [redact]
  personal = false     # true takes e-mail addresses and numbers of cards out of what is put; *

  [server]             # carrel serve. All of this table: *
  listen = "127.0.0.1:7717"
  remote = false       # true lets other machines reach it
  hosts = []           # other names by which clients call it
  origins = []         # of pages whose scripts may call it
  tls_cert = ""        # files of a certificate and of its key, to speak HTTPS;
  tls_key = ""         # they are read again when they change
  grace = "20s"        # for what has begun, when it ends
  readers = 64         # connections that read the store at once

  [telemetry]
  otlp = ""            # where spans go, such as "http://localhost:4318"; *

  [hook]               # of agents
  large = 25_000       # bytes of a result from which on it is put aside
  pointer = 1500       # tokens of what stands in its place
  brief = 2000         # tokens of a brief around a compaction
  limit = "5s"         # for all of it
  secrets = false      # true puts aside what looks like a credential, too

  [proxy]              # carrel proxy, run and serve --proxy. All of this table: *
  listen = "127.0.0.1:8787"
  mode = "observe"     # or "manage": carrel help proxy
  upstream.anthropic = "https://api.anthropic.com"
  upstream.openai = "https://api.openai.com/v1"
  audit = "open"       # or "required": no call without a record of it
  budget = 100_000     # tokens of a managed request; 90% of the window if not set
  compaction = "pass"  # or "answer": the client's own compactions
  recall = false       # true lets a managed model recall, without MCP
  holdout = "0%"       # share of conversations that are left as they are

  [credential]         # of those who come in over the network
  key_file = ""        # what credentials are hashed under *; beside the store if not set

  [resident]
  bytes = "256MiB"     # of artifacts that are kept in memory

  [output]
  color = "auto"       # or always, never
  progress = "auto"    # or plain, json, none

  [profile.tight]      # laid over the rest of this file by --profile tight
  budget.target = "30%"
  keep.last = 2

Paths are relative to the project, or else to the folder of the file. What is
marked * has no place in a project's file, which comes with the project: set it
in your own. A key is in no file of settings, and is never shown.

Profile "default" is built in and changes nothing. Any other key is an error.
"carrel config show --origin" says what is in force and why.

No file is read by carrel bench, demo, intent, limn, man, pager and version, which
do the same everywhere; but carrel bench exam ask and grade look for [generate].`

func newConfig(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config show|path",
		Short: "Say what is set, and where",
		Long:  TopicConfig,
		RunE:  job.Group("config", "show, path"),
	}
	cmd.AddCommand(newConfigShow(j), newConfigPath(j))
	return cmd
}

func newConfigShow(j *job.Job) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show [--origin]",
		Short: "List the settings that are in force",
		Long: `Show lists every setting with the value that is in force, and with --origin where
that comes from: a flag, a variable, a line of a file, the folder of a project,
or what is built in.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := j.Settings()
			if err != nil {
				return err
			}
			value := struct {
				Profile  string         `json:"profile"`
				Settings []config.Value `json:"settings"`
			}{s.Profile, s.Values}
			return j.List("config", value, "settings", func(p *out.Page) {
				t := &out.Table{Head: []string{"key", "value"}, Whole: true}
				if origin {
					t.Head = append(t.Head, "from")
				}
				for i := range s.Values {
					row := []any{s.Values[i].Key, s.Values[i].String()}
					if origin {
						row = append(row, fmt.Sprint(s.Values[i].Origin))
					}
					t.Add(row...)
				}
				p.Table(t)
			})
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "say where each value comes from")
	return cmd
}

func newConfigPath(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "List the files in which settings are looked for",
		Long: `Path lists the files in which settings are looked for, the one that wins first,
and whether there is one. It reads none of them.`,
		Args:        cobra.NoArgs,
		Annotations: job.WithoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			src, err := j.Sources()
			if err != nil {
				return err
			}
			value := struct {
				Files []config.File `json:"files"`
			}{append([]config.File{}, config.Files(src)...)}
			return j.List("config-path", value, "files", func(p *out.Page) {
				t := &out.Table{Head: []string{"whose", "file", "there"}, Whole: true}
				for _, f := range value.Files {
					there := "no"
					if f.Found {
						there = "yes"
					}
					t.Add(f.Kind, f.Path, there)
				}
				p.Table(t)
			})
		},
	}
}
