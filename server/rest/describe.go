package rest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/ratio"
)

// module is the beginning of the import paths of Carrel's own types. The OpenAPI document describes
// these types with their comments in the source.
const module = "github.com/carrel-dev/carrel/"

// fieldsJSON is the content of the file fields.json, which has a value of the type "described" as JSON.
//
//go:embed fields.json
var fieldsJSON []byte

// described has the comments of the types in requests and results, by package and name. A test
// extracts the comments from the source and fails if fields.json has others.
type described struct {
	Types  map[string]map[string]string `json:"types"`  // comments of each struct's fields by Go name; the key "" has the comment of the struct
	Values map[string][]string          `json:"values"` // the constants of each string type
}

var comments = sync.OnceValue(func() *described {
	d := new(described)
	if err := json.Unmarshal(fieldsJSON, d); err != nil {
		panic(fmt.Sprintf("rest: fields.json: %v", err)) // a test reads it
	}
	return d
})

// keyOf returns the key of a type in described.
func keyOf(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return strings.TrimPrefix(t.PkgPath(), module) + "." + name
}

// common has descriptions by the JSON name of a field, for fields without a comment.
var common = lazy.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"session": "id of the session", "id": "id", "block": "id of the block", "title": "title", "text": "text", "name": "name",
		"limit": "how many entries at most", "after": "the next of the page before", "query": "words that are looked for",
		"items": "the entries", "next": "where the next page begins; empty on the last", "format": "format of the conversation or context",
		"model": "the model", "tokens": "tokens", "blocks": "blocks", "bytes": "bytes", "messages": "messages", "revision": "revision of the session",
		"version": "version of the scope", "created": "when it came to be", "updated": "when it last changed", "time": "when it happened",
		"status": "status", "kind": "kind", "class": "provenance", "scope": "whose context it is", "actor": "who did it", "op": "id of the entry of the journal",
		"reason": "why", "reasons": "why", "warnings": "what a person should know of", "data": "the content", "content": "the content",
		"source": "where it comes from", "subject": "whom or what it is about", "from": "where it begins", "to": "where it ends",
		"turn": "its place in the window, from 0", "state": "where it is", "form": "how much of it is in the window", "rule": "the rule that holds",
		"preview": "the beginning of its text", "type": "type", "total": "how many there are", "score": "score", "digest": "SHA-256 of the bytes, in hex",
		"claim_basis": "what claims rest on", "source_state": "how far the sources were read", "open_questions": "questions that are open", "bin": "the value of the feature",
		"path": "the file", "boundary": "what must not be claimed beyond", "basis": "what the claim rests on", "context": "what is to be kept in mind",
		"why_it_matters": "why it matters", "meaning_for_next_agent": "what it means for the next agent", "section": "the section", "primary_intent": "the action to take",
		"secondary_intent": "what is to be done besides", "target_or_artifact": "what it is done to", "created_by": "who made the packet", "created_for": "whom it is for",
		"current_goal": "the goal", "current_state": "how the work stands", "handoff_notes": "anything else", "recommended_next_action": "what to do next",
		"session_or_project": "what the packet is of", "work_completed": "what is done", "work_not_yet_completed": "what is not done", "question": "the question",
		"what_was_verified": "what was verified", "ref": "id of the artifact or block", "from_tier": "tier of the one", "to_tier": "tier of the other",
		"step": "the stage of the plan in which it changed", "keep_retry": "how many of the newest blocks a second attempt keeps", "profile": "whose figures are the default",
		"expected_keywords": "words of the answer", "place": "where the answer is", "number": "its number, from 1", "rationale": "why", "count": "how many",
		"error": "the error", "note": "what became of it", "session_intent": "what the session is for", "tokens_after": "tokens after the compression",
		"tokens_before": "tokens before it", "what": "what it is", "black": "artifacts with this tag", "green": "artifacts with this tag", "red": "artifacts with this tag",
		"yellow": "artifacts with this tag", "absent": "artifacts that are not there", "admitted": "artifacts that were scored", "crowded": "artifacts that others left no room",
		"distrusted": "artifacts whose provenance is not enough", "not_scored": "artifacts that were not scored", "refuted": "artifacts that were refuted",
		"decisions": "decisions", "questions": "open questions", "resume_state": "where the session is to go on", "closed": "nothing can be added any more",
		"expired": "its time is up", "expires": "when its time is up", "pinned": "it is pinned", "stash": "it is in the stash", "verified_by": "the person who vouches for it",
		"encoding": "the encoding that tokens are counted in", "seal": "the seal of the manifest, in hex", "tier": "how far the context is degraded",
		"semantic": "how texts are compared", "semantic_calls": "how many texts an embedder was asked for", "warning": "what a person should know of",
		"accepted": "it was accepted", "short_id": "the beginning of the id, by which it is named", "entries": "entries", "for": "what it is for",
		"ttl": "how long it lives, from its creation on", "outcome": "what became of it", "changed": "whether, or how many blocks, it changed", "intent": "words for what the agent is about to do",
		"compression_count": "how many compressions there were", "statements": "statements of the contract, one each", "about": "what it is about", "list": "the list of the contract",
		"value": "the value", "ids": "ids", "permissions": "permissions of the credential", "scopes": "scopes of the credential", "document": "the sealed document, byte for byte",
		"critical": "an important one", "unpin": "remove the pins", "lost_ids": "ids of probes without an answer", "recall_ids": "ids of probes that a recall answers",
		"window_ids": "ids of probes that the window answers", "detail": "the error, for people", "field": "the invalid field", "line": "the invalid line",
		"cells": "number of erased texts", "covers": "number of blocks that it covers", "fresh": "number of new blocks", "undone": "it was undone",
		"fetch": "the source's answer", "fetched": "number of sources asked again", "tag": "its place in the order of entry", "memories": "memories that were made from it",
		"known_bytes": "stored bytes", "allow_secrets": "accept content that looks as if it held a credential", "input": "the arguments of the call, as JSON",
		"calls": "calls", "compressions": "compressions", "depth": "number of merged summaries", "cold": "out of the window", "live": "whole in the window",
		"stub": "in the window as a stub", "action": "the action to take", "iterations": "steps since the user's last instruction", "level": "fill level of the window",
		"by": "the cause", "call_id": "id of the call", "candidates": "considered artifacts",
		"before": "before", "tools": "names of the called tools", "dry_run": "report the result and write nothing", "file": "name of the file",
		"project": "folder of the project", "window": "tokens of the window", "figures": "thresholds of the window",
		"decision": "the decision", "strategy": "strategy of compression", "budget": "most tokens", "manifest": "id of the manifest",
		"artifact": "the artifact", "artifacts": "artifacts", "summary": "the summary", "probes": "probes", "evaluator": "name of the evaluator", "role": "role",
		"system": "the system text of a session that begins", "approve": "approve it, or else reject it", "other": "id of the manifest to compare with",
		"since": "the last that is known, behind which to begin", "domain": "the field of the work", "word": "an id, the beginning of one, or @last",
	}
}}

// describe returns the description of a field: its comment, or the common description of its
// name, or the comment of its type.
func describe(f *field) string {
	d := comments()
	if about := d.Types[keyOf(f.owner)][f.inGo]; about != "" {
		return about
	}
	if about := common.Get()[f.name]; about != "" {
		return about
	}
	t := f.typ
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return d.Types[keyOf(t)][""]
}

// valuesOf returns the constants of a string type, or nil if it may have other values.
func valuesOf(t reflect.Type) []any {
	if t.Kind() != reflect.String || openValues.Get()[keyOf(t)] {
		return nil
	}
	var list []any
	for _, v := range comments().Values[keyOf(t)] {
		list = append(list, v)
	}
	return list
}

// openValues lists the string types whose values are not limited to their constants.
var openValues = lazy.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{"governance.Actor": true}
}}

// exampleOf returns an example of a field's value, or nil for a list or an object, whose schema
// has examples of its members.
func exampleOf(f *field) any {
	if list := valuesOf(f.typ); list != nil {
		return list[0]
	}
	t := f.typ
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return "2026-01-05T10:00:00Z"
	case reflect.TypeFor[time.Duration]():
		return int64(24 * time.Hour)
	case reflect.TypeFor[ratio.Ratio]():
		return 0.25
	case reflect.TypeFor[api.Target]():
		return "25%"
	case reflect.TypeFor[digest.Digest]():
		return digest.Of([]byte("carrel")).String()
	}
	if e, ok := examples.Get()[keyOf(t)]; ok {
		return e
	}
	switch t.Kind() { //nolint:exhaustive // others have members
	case reflect.Bool:
		return true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16:
		return 3
	case reflect.Float64:
		return 0.5
	case reflect.String:
		if e, ok := examples.Get()[f.name]; ok {
			return e
		}
		return "text"
	}
	return nil
}

// examples are examples by type or by the name of a field.
var examples = lazy.Value[map[string]any]{Make: func() map[string]any {
	return map[string]any{
		"transcript.SessionID": "5f0c2a7e-7f43-4c1e-9d20-1f8a3c9e6b11", "transcript.BlockID": "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
		"store.ArtifactID": "77e0b1c29a4d4f6e", "token.Count": 60000, "governance.Actor": "ada", "governance.Scope": "acme/web/builder",
		"session": "@last", "block": "0a1b2c3d", "id": "77e0b1c2", "title": "The ledger's invariants", "name": "session.jsonl", "query": "connection pool",
		"format": "anthropic", "model": "gpt-5", "file": "internal/ledger/ledger.go", "source": "file:docs/policy.md", "subject": "ledger",
		"manifest": "m_0a1b2c3d4e5f6071", "op": "op_1a2b3c4d", "system": "You write Go.", "tool": "Bash", "evaluator": "tests", "by": "ada",
		"short_id": "0a1b2c3d", "preview": "go test ./...", "encoding": "o200k_base", "project": "src/ledger",
	}
}}
