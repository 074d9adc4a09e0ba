package server

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
)

func newPS(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "ps",
		Short: "List the servers that run",
		Long: `Ps lists the servers that "carrel serve", "carrel proxy" and "carrel run" started
for this user and that still run: process, address, surfaces, store and start; of a proxy also how
many calls went through it, and how many gaps its record has.`,
		Example: `  carrel ps
  carrel ps --jq '.servers[].url'`,
		Args:        cobra.NoArgs,
		Annotations: job.WithoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			list, err := runningServers(j)
			if err != nil {
				return err
			}
			return j.List("ps", map[string]any{"servers": list}, "servers", func(p *out.Page) {
				t := &out.Table{Head: []string{"pid", "url", "surfaces", "store", "started"}}
				for i := range list {
					s := &list[i]
					t.Add(strconv.Itoa(s.PID), s.URL, strings.Join(s.Surfaces, ","), s.Store, s.Started)
				}
				if len(list) > 0 {
					p.Table(t)
				}
				for i := range list {
					if s := &list[i]; s.Traffic != nil {
						p.Line("%d: %s", s.PID, passed(s.Traffic))
					}
				}
			})
		},
	}
}

func newStop(j *job.Job) *cobra.Command {
	var all bool
	wait := 30 * time.Second
	cmd := &cobra.Command{
		Use:   "stop [PID...] [--all] [--wait D]",
		Short: "End servers",
		Long: `Stop ends servers that "carrel serve" and "carrel proxy" started, and waits until
they have ended: a server accepts no more requests, finishes the running ones, and closes its
store. Without a process id it ends the only running server. A server that "carrel run" started
ends with its agent, or if its process id is given.`,
		Example: `  carrel stop
  carrel stop --all`,
		Annotations: job.WithoutFiles(),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			list, _ := runningServers(j) // completion cannot show errors
			var ids []string
			for i := range list {
				ids = append(ids, strconv.Itoa(list[i].PID)+"\t"+list[i].URL)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := runningServers(j)
			if err != nil {
				return err
			}
			chosen, err := chooseServers(list, args, all)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), wait)
			defer cancel()
			for i := range chosen {
				if err := chosen[i].stop(ctx); err != nil {
					return err
				}
			}
			return j.List("stop", map[string]any{"stopped": chosen}, "stopped", func(p *out.Page) {
				for i := range chosen {
					p.Line("stopped %d, %s", chosen[i].PID, chosen[i].URL)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "end all of them")
	cmd.Flags().DurationVar(&wait, "wait", wait, "how long to wait until they have ended")
	return cmd
}

// chooseServers returns the servers that arguments name.
func chooseServers(list []running, args []string, all bool) ([]running, error) {
	switch {
	case all && len(args) > 0:
		return nil, out.Usagef("stop: process ids and --all exclude each other: give one of them")
	case len(args) == 0:
		// --all does not stop "carrel run", which ends with its agent; its process id must be
		// given.
		list = slices.DeleteFunc(slices.Clone(list), func(s running) bool { return slices.Contains(s.Surfaces, surfaceRun) })
	}
	switch {
	case all:
		return list, nil
	case len(args) == 0 && len(list) == 0:
		return nil, &out.Error{Text: "stop: no server runs", Err: store.ErrNotFound}
	case len(args) == 0 && len(list) > 1:
		return nil, out.Hinted(out.Usagef("stop: %d servers run: give process ids, or --all", len(list)), "carrel ps lists the servers")
	case len(args) == 0:
		return list, nil
	}
	var chosen []running
	for _, a := range args {
		i := slices.IndexFunc(list, func(s running) bool { return strconv.Itoa(s.PID) == a })
		if i < 0 {
			return nil, &out.Error{Text: "stop: no server has the process id " + a, Err: store.ErrNotFound, Hint: "carrel ps lists the servers"}
		}
		chosen = append(chosen, list[i])
	}
	return chosen, nil
}
