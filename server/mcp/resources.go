package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// The URI of a resource is one of these prefixes and an id.
const (
	sessionURI  = "carrel://session/"
	itemURI     = "carrel://item/"
	whyURI      = "carrel://why/"
	manifestURI = "carrel://manifest/"
)

// maxResource is the largest resource in bytes. Larger originals are read in pieces with the tool
// recall.
const maxResource = 1 << 20

func (s *Server) addResources() {
	for _, r := range []struct {
		prefix    string
		template  sdk.ResourceTemplate
		operation *ops.Operation
		read      func(ctx context.Context, c *call, id string) ([]byte, error)
	}{
		{sessionURI, sdk.ResourceTemplate{
			Name: "session", Title: "Session", MIMEType: "application/json",
			Description: "The window of a session: its sizes, and its messages with ids and previews. The id @this means your own session.",
		}, &ops.Messages.Operation, readSession},
		{itemURI, sdk.ResourceTemplate{
			Name: "item", Title: "Item",
			Description: "The original of a block, an artifact or a summary, byte for byte.",
		}, &ops.Recall.Operation, readItem},
		{whyURI, sdk.ResourceTemplate{
			Name: "why", Title: "Why", MIMEType: "application/json",
			Description: "Why a block is live, a stub or cold, which parts are in the window, and how to recall the rest.",
		}, &ops.Why.Operation, readWhy},
		{manifestURI, sdk.ResourceTemplate{
			Name: "manifest", Title: "Manifest", MIMEType: "application/json",
			Description: "The sealed account of an assembled context. The id @last means the newest.",
		}, &ops.Manifest.Operation, readManifest},
	} {
		r.template.URITemplate = r.prefix + "{id}"
		s.sdk.AddResourceTemplate(&r.template, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			data, err := s.read(ctx, r.operation, r.prefix, req.Params.URI, r.read)
			if err != nil {
				return nil, s.broken(ctx, "resources/read", err)
			}
			return contents(req.Params.URI, data), nil
		})
	}
}

func (s *Server) read(
	ctx context.Context, operation *ops.Operation, prefix, uri string, read func(context.Context, *call, string) ([]byte, error),
) ([]byte, error) {
	c, err := s.begin(ctx, operation)
	if err != nil {
		return nil, err
	}
	id, err := url.PathUnescape(strings.TrimPrefix(uri, prefix))
	if err != nil || id == "" || len(id) > maxWord {
		return nil, fmt.Errorf("%w: want the URI of a resource, which is %s and an id", carrel.ErrRequest, prefix)
	}
	data, err := read(ctx, c, id)
	if err == nil && len(data) > maxResource {
		err = &hintedError{
			fmt.Errorf("%w: %d bytes are too many for one resource", carrel.ErrRequest, len(data)),
			"read it in pieces with the recall tool, or with get_messages",
		}
	}
	return data, err
}

// contents returns data unchanged, as text if it is valid UTF-8.
func contents(uri string, data []byte) *sdk.ReadResourceResult {
	c := &sdk.ResourceContents{URI: uri}
	switch {
	case !utf8.Valid(data):
		c.Blob, c.MIMEType = data, "application/octet-stream"
	case strings.HasPrefix(uri, itemURI):
		c.Text, c.MIMEType = string(data), "text/plain"
	default:
		c.Text = string(data)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}
}

func readSession(ctx context.Context, c *call, id string) ([]byte, error) {
	session, err := c.session(ctx, id)
	if err != nil {
		return nil, err
	}
	res, err := c.Messages(ctx, c.scope, &carrel.MessagesRequest{Session: session})
	if err != nil {
		return nil, err
	}
	return json.Marshal(res)
}

func readItem(ctx context.Context, c *call, id string) ([]byte, error) {
	res, err := c.Recall(ctx, c.scope, &carrel.RecallRequest{Block: id})
	if err != nil {
		return nil, err
	}
	return res.Data, nil
}

func readWhy(ctx context.Context, c *call, id string) ([]byte, error) {
	res, err := c.Why(ctx, c.scope, &carrel.BlockRequest{Block: id})
	if err != nil {
		return nil, err
	}
	return json.Marshal(res)
}

func readManifest(ctx context.Context, c *call, id string) ([]byte, error) {
	sealed, err := carrel.SealedOf(c.Manifest(ctx, c.scope, &carrel.IDRequest{ID: id}))
	if err != nil {
		return nil, err
	}
	return sealed.Bytes(), nil
}

// pageSize is the number of sessions in a page of the list.
const pageSize = 50

// listResources lists sessions, the last updated first. The list depends on the caller, so the
// list of the SDK, which is the same for all, cannot be used.
func (s *Server) listResources(ctx context.Context, req *sdk.ListResourcesRequest) (*sdk.ListResourcesResult, error) {
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	res, err := s.sessions(ctx, cursor)
	if err != nil {
		return nil, s.broken(ctx, "resources/list", err)
	}
	return res, nil
}

func (s *Server) sessions(ctx context.Context, cursor string) (*sdk.ListResourcesResult, error) {
	c, err := s.begin(ctx, &ops.Sessions.Operation)
	if err != nil {
		return nil, err
	}
	all, err := carrel.Items(c.Sessions(ctx, c.scope, &carrel.SessionsRequest{}))
	if err != nil {
		return nil, err
	}
	from, err := after(all, cursor)
	if err != nil {
		return nil, err
	}
	to := min(from+pageSize, len(all))
	res := &sdk.ListResourcesResult{Cacheable: sdk.Cacheable{CacheScope: "private"}, Resources: []*sdk.Resource{}}
	for i := range all[from:to] {
		res.Resources = append(res.Resources, resourceOf(&all[from+i]))
	}
	if to < len(all) {
		res.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(all[to-1].Session))
	}
	return res, nil
}

// after returns the index of the first session that follows the one in a cursor.
func after(all []carrel.SessionInfo, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	if id, err := base64.RawURLEncoding.DecodeString(cursor); err == nil {
		if i := slices.IndexFunc(all, func(s carrel.SessionInfo) bool { return s.Session == transcript.SessionID(id) }); i >= 0 {
			return i + 1, nil
		}
	}
	return 0, &hintedError{fmt.Errorf("cursor: %w", store.ErrNotFound), "begin again without a cursor"}
}

func resourceOf(s *carrel.SessionInfo) *sdk.Resource {
	return &sdk.Resource{
		URI: sessionURI + escaped(string(s.Session)), Name: string(s.Session), Title: s.Title, MIMEType: "application/json",
		Description: fmt.Sprintf("%d messages, %d tokens in the window, updated %s", s.Messages, s.Window, s.Updated.UTC().Format("2006-01-02 15:04")),
	}
}

// escaped returns an id escaped for a URI, so that the URI template matches.
func escaped(id string) string { return strings.ReplaceAll(url.PathEscape(id), ":", "%3A") }
