package artifact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A record is an artifact on a line of a file.
type record struct {
	ID           store.ArtifactID   `json:"id"`
	Class        string             `json:"class"`
	Type         string             `json:"type"` // another name of class
	Title        string             `json:"title"`
	Text         string             `json:"text"`
	Source       string             `json:"source"`
	Subject      string             `json:"subject"`
	TTL          string             `json:"ttl"` // such as "7d"
	Created      string             `json:"created"`
	VerifiedBy   string             `json:"verified_by"`
	Pinned       *bool              `json:"pinned"`
	From         []store.ArtifactID `json:"from"`
	AllowSecrets *bool              `json:"allow_secrets"`
}

// readLines reads the artifacts of a file with one artifact per line. It fails if the engine
// would refuse one of them.
func readLines(ctx context.Context, j *job.Job, a *job.Access, name string, template *carrel.NewArtifact) ([]*carrel.NewArtifact, error) {
	data, err := j.Read(name)
	if err != nil {
		return nil, err
	}
	trial, err := a.DryRun(job.NoCount{})
	if err != nil {
		return nil, err
	}
	total := bytes.Count(data, []byte("\n"))
	seen := make(map[store.ArtifactID]int)
	var reqs []*carrel.NewArtifact
	n := 0
	for line := range bytes.Lines(data) {
		n++
		j.Reporter.Outer("check", n, total)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		req := *template
		if err := parseRecord(line, &req); err != nil {
			return nil, &transcript.SyntaxError{Name: name, Line: n, Text: err.Error(), Hint: "nothing was stored; the fields of a line are id, class or type, title, text, source, subject, ttl, created, verified_by, pinned, from and allow_secrets"}
		}
		if at := seen[req.ID]; at > 0 && req.ID != "" {
			return nil, &transcript.SyntaxError{Name: name, Line: n, Field: "id", Text: fmt.Sprintf("%q is in line %d, too", req.ID, at)}
		}
		seen[req.ID] = n
		if _, err := carrel.Items(trial.Put(ctx, a.Scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{&req}})); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			bad := &out.Error{Err: without(err), File: name, Line: n}
			if errors.Is(err, carrel.ErrRequest) {
				bad.Kind = out.KindInput
			}
			return nil, bad
		}
		reqs = append(reqs, &req)
	}
	if len(reqs) == 0 {
		return nil, &transcript.SyntaxError{Name: name, Text: "there is no artifact in it"}
	}
	return reqs, nil
}

// parseRecord parses a line and sets the fields of req that the line gives; the others stay.
func parseRecord(line []byte, req *carrel.NewArtifact) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	var r record
	if err := dec.Decode(&r); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the line has more than one object: put each artifact on a line of its own")
	}
	if twice := keysOnce(line); twice != nil {
		return errors.New(twice.Text + ": keep one of them")
	}
	if r.Class != "" && r.Type != "" {
		return errors.New("class and type are the same field: use only one")
	}
	var err error
	if class := r.Class + r.Type; class != "" {
		if req.Class, err = provenance.ParseClass(class); err != nil {
			return err
		}
	}
	if req.Class == "" {
		return errors.New("the class is missing: add it to the line, or give --type")
	}
	if r.TTL != "" {
		if req.TTL, err = job.ParseTTL(r.TTL); err != nil {
			return fmt.Errorf("ttl: %w", err)
		}
	}
	if r.Created != "" {
		if req.Created, err = config.ParseTime(r.Created); err != nil {
			return fmt.Errorf("created: %w", err)
		}
	}
	req.ID, req.Content = r.ID, []byte(r.Text)
	for _, field := range [...]struct {
		to   *string
		from string
	}{{&req.Title, r.Title}, {&req.Source, r.Source}, {&req.Subject, r.Subject}, {&req.VerifiedBy, r.VerifiedBy}} {
		if field.from != "" {
			*field.to = field.from
		}
	}
	if r.From != nil {
		req.From = r.From
	}
	if r.Pinned != nil {
		req.Pinned = *r.Pinned
	}
	if r.AllowSecrets != nil {
		req.AllowSecrets = *r.AllowSecrets
	}
	verify(req)
	return nil
}
