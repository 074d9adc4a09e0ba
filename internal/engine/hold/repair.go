package hold

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/openai"
	"github.com/carrel-dev/carrel/transcript/responses"
)

// mendable are the formats of requests that Repair can repair.
var mendable = []transcript.Format{
	anthropic.Format,
	openai.Format,
	responses.Format,
}

// Mendable returns the names of the formats of requests that [Repair] can repair.
func Mendable() []string {
	names := make([]string, len(mendable))
	for i, f := range mendable {
		names[i] = f.Name()
	}
	return names
}

// Repair corrects a request that a provider would refuse. It fails with an [api.InvalidError] if
// the provider would still refuse the result.
func Repair(req *api.RepairRequest) (_ *api.RepairResult, err error) {
	defer base.During(strings.TrimSpace("repair "+req.Name), &err)

	f, err := toMend(req.Provider, req.Data)
	if err != nil {
		return nil, err
	}
	s, err := f.Decode(req.Name, req.Data)
	if err != nil {
		return nil, err
	}
	m, err := transcript.Mend(f, s, transcript.MendOptions{Binds: binds(s, f.Name()), Bare: req.WithoutThinking})
	if err != nil {
		return nil, err
	}
	if len(m.Left) > 0 {
		return nil, &api.InvalidError{Format: f.Name(), Violations: m.Left}
	}
	return &api.RepairResult{
		File: req.Name, Format: f.Name(), Data: m.Data, Bytes: len(m.Data),
		Intact: bytes.Equal(m.Data, req.Data), Repairs: base.List(m.Repairs),
	}, nil
}

// toMend returns the format in which to repair data. It is the format that the argument provider
// names or, if provider is empty, the format that data has. toMend fails if data is not in that
// format.
func toMend(provider string, data []byte) (transcript.Format, error) {
	names := Mendable()
	like, err := Detect(data)
	for _, f := range mendable {
		switch {
		case provider == "" && err == nil && like.Name() == f.Name():
			return f, nil
		case provider != f.Name():
		case err != nil: // no format matches: the decoder says why
			return f, nil //nolint:nilerr // Decode returns a better error
		case like.Name() == provider, onlySpeaks(like, data):
			return f, nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case provider == "":
		provider = names[0]
	case !slices.Contains(names, provider):
		return nil, fmt.Errorf("%w: provider %q is none of %s", api.ErrFormat, provider, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%w: the file is in format %s, and not a request for %s", api.ErrFormat, like.Name(), provider)
}

// onlySpeaks reports whether a body contains only text. The format of such a body cannot be
// determined for certain.
func onlySpeaks(f transcript.Format, data []byte) bool {
	s, err := f.Decode("", data)
	if err != nil || f.Name() != openai.Format.Name() {
		return false
	}
	for i := range s.Messages {
		for _, p := range s.Messages[i].Parts {
			if _, ok := p.(transcript.Text); !ok {
				return false
			}
		}
	}
	return true
}
