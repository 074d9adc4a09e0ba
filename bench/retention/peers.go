package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/carrel-dev/carrel/internal/retention"
)

// installed is where the script that installs peers puts their programs, in its own
// folder.
var installed = filepath.Join(".installed", "bin")

// startPeers starts all peers that are installed below a folder.
func startPeers(ctx context.Context, folder string) ([]*retention.Peer, error) {
	bin, err := filepath.Abs(filepath.Join(folder, installed))
	if err != nil {
		return nil, err
	}
	programs, err := os.ReadDir(bin)
	if err != nil || len(programs) == 0 {
		return nil, fmt.Errorf("-peers %s: no peers are installed there: run %s first", folder, filepath.Join(folder, "run"))
	}
	var peers []*retention.Peer
	for _, f := range programs {
		p, err := retention.StartPeer(ctx, filepath.Join(bin, f.Name()))
		if err != nil {
			return nil, errors.Join(err, closePeers(peers))
		}
		peers = append(peers, p)
	}
	return peers, nil
}

// closePeers ends peers and returns what went wrong with them.
func closePeers(peers []*retention.Peer) error {
	var errs []error
	for _, p := range peers {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}
