package upstream

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// JudgeGemini returns why the Gemini API would refuse a request, or nil. Calls at the very end
// may lack responses. It does not verify signatures; a [Server] does.
func JudgeGemini(request []byte) *Refusal {
	_, contents, r := geminiOf(request)
	if r != nil {
		return r
	}
	for i, c := range contents {
		if r := checkGeminiParts(i, c); r != nil {
			return r
		}
	}
	if contents[0].role == "model" {
		return refuse("G1", "Please ensure that the first content is of role user.")
	}
	var before geminiContent
	for _, c := range contents {
		if r := checkGeminiOrder(before, c); r != nil {
			return r
		}
		before = c
	}
	return checkSigned(contents, false)
}

// A geminiContent is one turn of a request.
type geminiContent struct {
	role  string
	parts []object
}

// data returns the keys of a part that hold data. An unknown key counts as data.
func data(part object) (keys []string) {
	for k, v := range part {
		switch k {
		case "thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata", "partMetadata", "part_metadata", "mediaResolution", "media_resolution":
		default:
			if v != nil {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// either returns the value of a field that may have one of two names.
func either(o object, name, other string) any {
	if v, ok := o[name]; ok {
		return v
	}
	return o[other]
}

func calling(part object) object {
	call, _ := either(part, "functionCall", "function_call").(object)
	return call
}

func responding(part object) object {
	res, _ := either(part, "functionResponse", "function_response").(object)
	return res
}

func signature(part object) string {
	s, _ := either(part, "thoughtSignature", "thought_signature").(string)
	return s
}

// of calls the function find with each part of a turn, and returns those
// results that are not nil.
func (c geminiContent) of(find func(object) object) (all []object) {
	for _, p := range c.parts {
		if o := find(p); o != nil {
			all = append(all, o)
		}
	}
	return all
}

// geminiOf checks rule G0, the form of a request, and returns the request and its contents.
func geminiOf(request []byte) (object, []geminiContent, *Refusal) {
	var whole any
	if err := json.Unmarshal(request, &whole); err != nil {
		return nil, nil, refuse("G0", "Invalid JSON payload received: %v", err)
	}
	all, _ := whole.(object)
	list, ok := whole.([]any)
	if !ok {
		list, _ = all["contents"].([]any)
	}
	if len(list) == 0 {
		return nil, nil, refuse("G0", "* GenerateContentRequest.contents: contents is not specified")
	}
	contents := make([]geminiContent, len(list))
	for i, v := range list {
		o, ok := v.(object)
		if !ok {
			return nil, nil, refuse("G0", "Invalid value at 'contents[%d]'", i)
		}
		contents[i].role = text(o, "role")
		if o["role"] == nil {
			contents[i].role = "user"
		}
		if !slices.Contains([]string{"user", "model", "function"}, contents[i].role) {
			return nil, nil, refuse("G0", "Please use a valid role: user, model.")
		}
		parts, _ := o["parts"].([]any)
		for k, v := range parts {
			p, ok := v.(object)
			if !ok {
				return nil, nil, refuse("G0", "Invalid value at 'contents[%d].parts[%d]'", i, k)
			}
			contents[i].parts = append(contents[i].parts, p)
		}
	}
	return all, contents, nil
}

// checkGeminiParts checks the rules that one content can break alone: it has parts (G6), and
// each part passes [checkGeminiPart].
func checkGeminiParts(i int, c geminiContent) *Refusal {
	if len(c.parts) == 0 {
		return refuse("G6", "* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
	}
	for k, p := range c.parts {
		if r := checkGeminiPart(i, k, c.role, p); r != nil {
			return r
		}
	}
	return nil
}

// checkGeminiPart checks one part: it has data and no empty text (G6), calls and responses have
// names and objects (G7), its signature is base64 (G8), and only the model calls and thinks
// (G9).
func checkGeminiPart(i, k int, role string, p object) *Refusal {
	keys := data(p)
	if len(keys) != 1 {
		return refuse("G6", "* GenerateContentRequest.contents[%d].parts[%d].data: required oneof field 'data' must have one initialized field", i, k)
	}
	said, _ := p["text"].(string)
	thinks := keys[0] == "text" && (p["thought"] == true || said == "" && signature(p) != "")
	if keys[0] == "text" && said == "" && signature(p) == "" {
		return refuse("G6", "Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again.")
	}
	if !isSignature(signature(p)) {
		return refuse("G8", "Invalid value at 'contents[%d].parts[%d].thought_signature' (TYPE_BYTES), Base64 decoding failed for %q", i, k, signature(p))
	}
	calls := keys[0] == "functionCall" || keys[0] == "function_call"
	answers := keys[0] == "functionResponse" || keys[0] == "function_response"
	if (calls || thinks) != (role == "model") && (calls || thinks) || answers && role == "model" {
		return refuse("G9", "contents[%d].parts[%d] is not of role %s", i, k, role)
	}
	one, what := calling(p), "args"
	if answers {
		one, what = responding(p), "response"
	}
	if (calls || answers) && text(one, "name") == "" {
		return refuse("G7", "* GenerateContentRequest.contents[%d].parts[%d].%s.name: Name cannot be empty.", i, k, keys[0])
	}
	_, isObject := one[what].(object)
	_, has := one[what]
	if (calls && has || answers) && !isObject {
		return refuse("G7", "Invalid value at 'contents[%d].parts[%d].%s.%s'", i, k, keys[0], what)
	}
	return nil
}

// isSignature reports whether a text is base64, or a signature that the service ignores.
func isSignature(s string) bool {
	if isSkipped(s) {
		return true
	}
	s = strings.TrimRight(s, "=")
	_, plain := base64.RawStdEncoding.DecodeString(s)
	_, url := base64.RawURLEncoding.DecodeString(s)
	mixed := strings.ContainsAny(s, "+/") && strings.ContainsAny(s, "-_")
	if mixed {
		_, plain = base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(s))
	}
	return plain == nil || url == nil
}

// checkGeminiOrder checks the rules G2 to G5 for a content and the previous one: no reply
// follows another, and the responses directly after a reply are those to its calls.
func checkGeminiOrder(before, c geminiContent) *Refusal {
	asked := before.of(calling)
	if before.role != "model" {
		asked = nil
	}
	if c.role == "model" {
		switch {
		case before.role != "model":
			return nil
		case len(asked) > 0:
			return refuse("G3", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		}
		return refuse("G2", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
	}
	answers := c.of(responding)
	switch {
	case len(asked) == 0 && len(answers) > 0:
		return refuse("G4", "Please ensure that function response turn comes immediately after a function call turn.")
	case len(asked) != len(answers):
		return refuse("G3", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	}
	waiting := slices.Clone(asked)
	take := func(fits func(call object) bool) bool {
		i := slices.IndexFunc(waiting, fits)
		if i >= 0 {
			waiting = slices.Delete(waiting, i, i+1)
		}
		return i >= 0
	}
	for _, byID := range []bool{true, false} {
		answers = slices.DeleteFunc(answers, func(a object) bool {
			return take(func(call object) bool {
				if byID {
					return text(a, "id") != "" && text(call, "id") == text(a, "id")
				}
				return text(call, "name") == text(a, "name") && (text(call, "id") == "" || text(a, "id") == "")
			})
		})
	}
	if len(answers) > 0 {
		return refuse("G5", "No function call for the function response %s.", text(answers[0], "name"))
	}
	return nil
}

// checkSigned checks rule G8 for the current turn: the first call of each reply has a
// signature, if the model always requires one or if any reply of the turn has one.
func checkSigned(contents []geminiContent, always bool) *Refusal {
	begin := 0
	for i, c := range contents {
		if c.role != "model" && len(c.of(responding)) == 0 {
			begin = i
		}
	}
	missing := ""
	for _, c := range contents[begin:] {
		if c.role != "model" {
			continue
		}
		first := true
		for _, p := range c.parts {
			always = always || signature(p) != ""
			if call := calling(p); call != nil {
				if first && signature(p) == "" && missing == "" {
					missing = text(call, "name")
				}
				first = false
			}
		}
	}
	if always && missing != "" {
		return refuse("G8", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Function call `%s`.", missing)
	}
	return nil
}
