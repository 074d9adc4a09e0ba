package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/store"
)

func newPS(_ *Env, g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "ps",
		Short: "List the servers that run",
		Long: `Ps lists the servers that "carrel serve" started for this user and that still run:
process, address, surfaces, store and start.`,
		Example: `  carrel ps
  carrel ps --jq '.servers[].url'`,
		Args:        cobra.NoArgs,
		Annotations: withoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			list, err := g.servers()
			if err != nil {
				return err
			}
			return g.result(document{"ps", map[string]any{"servers": list}, "servers"}, func(p *page) {
				t := &table{head: []string{"pid", "url", "surfaces", "store", "started"}}
				for i := range list {
					s := &list[i]
					t.add(strconv.Itoa(s.PID), s.URL, strings.Join(s.Surfaces, ","), s.Store, s.Started)
				}
				if len(list) > 0 {
					p.table(t)
				}
			})
		},
	}
}

func newStop(_ *Env, g *globals) *cobra.Command {
	var all bool
	wait := 30 * time.Second
	cmd := &cobra.Command{
		Use:   "stop [PID...] [--all] [--wait D]",
		Short: "End servers",
		Long: `Stop ends servers that "carrel serve" started, and waits until they have ended: a
server takes no more requests, finishes those that it has, and closes its store.
Without a process id it ends the only one that runs.`,
		Example: `  carrel stop
  carrel stop --all`,
		Annotations: withoutFiles(),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			list, _ := g.servers() // completion has nobody to tell
			var ids []string
			for i := range list {
				ids = append(ids, strconv.Itoa(list[i].PID)+"\t"+list[i].URL)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := g.servers()
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
			return g.result(document{"stop", map[string]any{"stopped": chosen}, "stopped"}, func(p *page) {
				for i := range chosen {
					p.line("stopped %d, %s", chosen[i].PID, chosen[i].URL)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "end all of them")
	cmd.Flags().DurationVar(&wait, "wait", wait, "how long to wait until they have ended")
	return cmd
}

// chooseServers returns the servers that arguments name.
func chooseServers(list []server, args []string, all bool) ([]server, error) {
	switch {
	case all && len(args) > 0:
		return nil, usagef("stop: give process ids, or --all")
	case all:
		return list, nil
	case len(args) == 0 && len(list) == 0:
		return nil, &hintedError{fmt.Errorf("%w: no server runs", store.ErrNotFound), "carrel serve starts one"}
	case len(args) == 0 && len(list) > 1:
		return nil, usagef("stop: %d servers run: give process ids, or --all; carrel ps lists them", len(list))
	case len(args) == 0:
		return list, nil
	}
	var chosen []server
	for _, a := range args {
		i := slices.IndexFunc(list, func(s server) bool { return strconv.Itoa(s.PID) == a })
		if i < 0 {
			return nil, &hintedError{fmt.Errorf("%w: no server has the process id %s; carrel ps lists them", store.ErrNotFound, a), "carrel serve starts one"}
		}
		chosen = append(chosen, list[i])
	}
	return chosen, nil
}
