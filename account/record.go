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
	call   string   // the name of the tool and its short arguments
	result []string // short values of the result that the arguments do not have, with their names
	id     string   // the first id in the result, or empty
}

// Limits of records.
const (
	mostRecord    = 160 // bytes of a call,
	mostResult    = 90  // and of its result
	mostValue     = 24  // bytes of a value of a result whose name does not say that it is an id or the like
	leastArgument = 20  // an argument of a call for which no more bytes are left is left out
	leastRecords  = 400 // bytes of all, in a short conversation;
	recordShare   = 64  // in a long one, the part of its bytes that they may have
	mostOlder     = 320 // bytes of the ids of older records with the beginnings of their calls,
	mostSubject   = 56  // and of one such beginning
)

// changing reports whether a word is one with which names of tools begin that
// change something, such as create.
func changing(word string) bool {
	switch word {
	case "accept", "activate", "add", "apply", "approve", "assign", "block", "book", "buy", "cancel", "change", "charge", "close", "collect",
		"confirm", "create", "credit", "deactivate", "debit", "deduct", "delete", "disable", "enable", "escalate", "exchange", "extend", "file", "grant",
		"hold", "insert", "invite", "issue", "lock", "make", "merge", "modify", "move", "notify", "open", "order", "pay", "place", "post", "publish",
		"put", "redeem", "refund", "register", "reject", "release", "remove", "rename", "renew", "replace", "reply", "reserve", "reset", "reschedule",
		"resolve", "revoke", "save", "schedule", "send", "set", "start", "stop", "submit", "suspend", "swap", "transfer", "unblock", "unlock", "update",
		"upgrade", "void", "waive", "withdraw":
		return true
	}
	return false
}

// changes reports whether the name of a tool begins with a word for a change,
// behind the name of a server: change_order, mcp__shop__changeOrder. To take something changes
// something if it is money, as in take_payment.
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
	verb, rest := strings.ToLower(name[:end]), strings.ToLower(name[end:])
	return changing(verb) || verb == "take" && (strings.HasSuffix(rest, "payment") || strings.HasSuffix(rest, "deposit"))
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
	if doc.IsObject() && (tellsError(doc.Get("error")) || doc.Get("ok").Type == gjson.False || doc.Get("success").Type == gjson.False) {
		return record{}, false
	}
	in := parsed(c)
	call := c.Name
	in.ForEach(func(_, v gjson.Result) bool {
		if room := mostRecord - len(call); room > leastArgument {
			s := v.String()
			if v.IsObject() || v.IsArray() {
				s = unquoted.Replace(s)
			}
			call = strings.TrimSpace(call + " " + clip(r.short(text.Fold(s)), room))
		}
		return true
	})
	return record{call, resultOf(doc, first, call), idOf(doc)}, true
}

// unquoted removes the brackets and quotation marks of JSON, and puts blanks behind colons and commas.
var unquoted = strings.NewReplacer(`":`, ": ", `",`, ", ", `,"`, ", ", "},", ", ", "],", ", ", `"`, "", "{", "", "}", "", "[", "", "]", "")

// idOf returns the first id at the top level of a result in JSON, such as T-4711, or "".
func idOf(doc gjson.Result) (id string) {
	if !doc.IsObject() {
		return ""
	}
	doc.ForEach(func(key, v gjson.Result) bool {
		k, s := strings.ToLower(key.Str), v.String()
		isID := k == "id" || strings.HasSuffix(k, "_id") || strings.HasSuffix(k, "_ref") || strings.HasSuffix(k, "_number")
		if isID && len(s) <= mostValue && strings.ContainsAny(s, "0123456789") {
			id = s
		}
		return id == ""
	})
	return id
}

// tellsError reports whether the value error of a result says that there is an error. Null, false,
// 0 and an empty string say that there is none.
func tellsError(v gjson.Result) bool {
	switch v.Type {
	case gjson.Null, gjson.False:
		return false
	case gjson.Number:
		return v.Num != 0
	case gjson.String:
		return v.Str != ""
	case gjson.True, gjson.JSON:
	}
	return true
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

// resultOf returns values at the top level of a result in JSON, in the order of the result and within
// a limit. It prefers ids, dates, amounts and states, and fills the room that is left with other short
// values. It leaves out values that are in the text of the call. If doc
// is no JSON object, it returns the text first, cut to the limit, unless that is empty.
func resultOf(doc gjson.Result, first, call string) []string {
	if !doc.IsObject() {
		if first = clip(text.Fold(first), mostResult); first == "" {
			return nil
		}
		return []string{first}
	}
	type value struct {
		text        string
		tells, kept bool
	}
	var all []value
	doc.ForEach(func(key, v gjson.Result) bool {
		s := text.Fold(v.String())
		tells := telling(key.Str)
		if v.Type != gjson.String && v.Type != gjson.Number || s == "" || strings.Contains(call, s) || !tells && len(s) > mostValue {
			return true
		}
		all = append(all, value{text: key.Str + ": " + s, tells: tells})
		return true
	})
	room := mostResult
	for _, tells := range [...]bool{true, false} {
		for i := range all {
			if v := &all[i]; v.tells == tells && len(v.text) <= room {
				v.kept = true
				room -= len(v.text) + len(", ")
			}
		}
	}
	var kept []string
	for _, v := range all {
		if v.kept {
			kept = append(kept, v.text)
		}
	}
	return kept
}

// recorded adds a record. It replaces an earlier record of the same call.
func (t *tracker) recorded(r record) {
	t.from[t.here], t.did = true, true
	t.records = append(slices.DeleteFunc(t.records, func(o record) bool { return o.call == r.call }), r)
}

// newestRecords returns the newest records as lines, the newest last, and in more how many older
// records are left out. The first line has the newest ids of those, if there are any. A value that
// did not change stands only in the newest of the records with the same id. The lines have at most
// leastRecords bytes or, in a long conversation, the conversation's bytes divided by recordShare.
func (t *tracker) newestRecords() (lines []string, more int) {
	room := max(leastRecords, t.bytes()/recordShare)
	type value struct{ id, text string }
	said := make(map[value]bool)
	for i, r := range slices.Backward(t.records) {
		var fresh []string
		for _, v := range r.result {
			if of := (value{r.id, v}); r.id == "" || !said[of] {
				said[of] = true
				fresh = append(fresh, v)
			}
		}
		line := strings.TrimSuffix(r.call+" "+arrow+strings.Join(fresh, ", "), " "+arrow)
		if room -= len(indent) + len(line) + 1; room < 0 {
			more = i + 1
			break
		}
		lines = append(lines, line)
	}
	if ids := idsOf(t.records[:more]); ids != "" {
		lines = append(lines, "before: "+ids)
	}
	slices.Reverse(lines)
	return lines, more
}

// idsOf returns the newest ids of records, each once, behind the beginning of the call that returned
// it first, in at most mostOlder bytes.
func idsOf(records []record) string {
	seen := make(map[string]bool)
	var ids []string
	for _, r := range records {
		if r.id == "" || seen[r.id] {
			continue
		}
		seen[r.id] = true
		line := clip(r.call, mostSubject)
		if !strings.Contains(line, r.id) {
			line += " " + arrow + r.id
		}
		ids = append(ids, line)
	}
	all := strings.Join(ids, "; ")
	for len(all) > mostOlder {
		_, all, _ = strings.Cut(all, "; ")
	}
	return all
}
