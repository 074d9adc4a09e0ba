package account

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// A record is a call that changed something outside of files, such as a
// ticket, a booking or an order.
type record struct {
	call   string // the name of the tool and its short arguments
	result string // short values of the result that the arguments do not have, or empty
}

// Limits of records.
const (
	mostRecord    = 90  // bytes of a call, and of a result
	leastArgument = 20  // bytes that an argument of a call may have, or is left out
	leastRecords  = 400 // bytes of all, in a short conversation;
	recordShare   = 64  // in a long one, the part of its bytes that they may have
)

// changing reports whether a word is one with which names of tools begin that
// change something, such as create.
func changing(word string) bool {
	switch word {
	case "accept", "add", "apply", "approve", "assign", "book", "cancel", "change", "charge", "close", "confirm", "create", "delete", "exchange",
		"extend", "file", "grant", "hold", "issue", "make", "merge", "modify", "move", "open", "order", "pay", "place", "post", "publish", "put", "redeem",
		"refund", "register", "reject", "release", "remove", "rename", "renew", "replace", "reply", "reserve", "reset", "reschedule", "resolve", "revoke",
		"save", "schedule", "send", "set", "start", "stop", "submit", "swap", "transfer", "update", "upgrade", "void", "withdraw":
		return true
	}
	return false
}

// changes reports whether the name of a tool begins with a word for a change,
// behind the name of a server: change_order, mcp__shop__changeOrder.
func changes(name string) bool {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	end := len(name)
	for i, c := range name {
		if i > 0 && (unicode.IsUpper(c) || !unicode.IsLetter(c)) {
			end = i
			break
		}
	}
	return changing(strings.ToLower(name[:end]))
}

// record returns the record of a call, if its name says that it changes
// something and its result does not say that it failed.
func (r *reader) record(c transcript.ToolCall, res transcript.ToolResult) (record, bool) {
	if res.Error || !changes(c.Name) {
		return record{}, false
	}
	printed := strings.TrimSpace(said(res))
	first, _, _ := strings.Cut(printed, "\n")
	if says(first)&badly != 0 && !gjson.Valid(printed) {
		return record{}, false
	}
	doc := gjson.Parse(printed)
	if doc.IsObject() && (doc.Get("error").Exists() || doc.Get("ok").Type == gjson.False || doc.Get("success").Type == gjson.False) {
		return record{}, false
	}
	in := parsed(c)
	call := c.Name
	in.ForEach(func(_, v gjson.Result) bool {
		if room := mostRecord - len(call); room > leastArgument {
			call = strings.TrimSpace(call + " " + text.Clip(r.short(text.Fold(v.String())), room))
		}
		return true
	})
	return record{call, resultOf(doc, first, call)}, true
}

// telling reports whether the name of a value says that it is an id, a date, an
// amount or a state.
func telling(key string) bool {
	key = strings.ToLower(key)
	for _, part := range [...]string{"id", "ref", "number", "code", "key", "state", "status", "until", "due", "date", "_by", "at", "total", "amount", "price", "fee", "version", "url"} {
		if key == part || strings.HasSuffix(key, part) {
			return true
		}
	}
	return false
}

// resultOf returns the ids, dates, amounts and states at the top level of a
// result in JSON, without those that are in the text of the call. If doc is no
// JSON object, it returns the text first, cut to a limit.
func resultOf(doc gjson.Result, first, call string) string {
	if !doc.IsObject() {
		return text.Clip(text.Fold(first), mostRecord)
	}
	var all []string
	size := 0
	doc.ForEach(func(key, v gjson.Result) bool {
		s := text.Fold(v.String())
		if v.IsObject() || v.IsArray() || v.Type == gjson.Null || v.Type == gjson.True || s == "" || strings.Contains(call, s) || !telling(key.Str) {
			return true
		}
		if s = key.Str + ": " + s; size+len(s) <= mostRecord {
			all = append(all, s)
			size += len(s) + 2
		}
		return true
	})
	return strings.Join(all, ", ")
}

// recorded adds a record. It replaces an earlier record of the same call.
func (t *tracker) recorded(r record) {
	t.from[t.here] = true
	t.records = append(slices.DeleteFunc(t.records, func(o record) bool { return o.call == r.call }), r)
}

// newestRecords returns the newest records as lines, the newest last, and in more how many older
// records are left out. The lines have at most leastRecords bytes or, in a long conversation, the
// conversation's bytes divided by recordShare.
func (t *tracker) newestRecords() (lines []string, more int) {
	room := max(leastRecords, t.bytes()/recordShare)
	for i, r := range slices.Backward(t.records) {
		line := strings.TrimSuffix(r.call+" "+arrow+r.result, " "+arrow)
		if room -= len(indent) + len(line) + 1; room < 0 {
			more = i + 1
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return lines, more
}
