package secret

import (
	"strings"
	"testing"
)

// found returns what a scan finds in a text: kind and value of each.
func found(list []Finding, text string) string {
	var all []string
	for _, f := range list {
		all = append(all, string(f.Kind)+" "+text[f.Start:f.End])
	}
	return strings.Join(all, "; ")
}

// body returns n bytes with digits and letters, in capitals, as all classes have them.
func body(n int) string { return strings.Repeat("A2B3C4D5", n/8+1)[:n] }

// A credential of each shape is found from its least length on, whole however long it is,
// and not where a word goes on before it, or where it could be an example.
func TestShapesAtTheirLimits(t *testing.T) {
	for _, s := range shapes {
		value := s.prefix + body(s.least)
		want := string(s.kind) + " " + value
		for _, text := range []string{value, "(" + value + ")", "\\n" + value, "%3D" + value, "x\\n" + value + "\n"} {
			if got := found(Scan(text), text); got != want {
				t.Errorf("in %q: %q, want %q", text, got, want)
			}
		}
		for _, text := range []string{
			value[:len(value)-1], "a" + value, "_" + value, "9" + value, `\` + "nn" + value, "%33D" + value, "%D" + value,
			s.prefix + strings.Repeat("A2B3C", s.least), s.prefix + "EXAMPLE" + body(s.least-7), s.prefix + " " + body(s.least),
		} {
			if got := found(scanShapes(text), text); got != "" && !strings.Contains(got, "openai-key sk-") {
				t.Errorf("in %q: %q, want nothing", text, got)
			}
		}
		long := s.prefix + body(s.least+1000)
		got := found(scanShapes(long), long)
		if s.most == 0 && got != string(s.kind)+" "+long || s.most > 0 && got != "" {
			t.Errorf("%d bytes of %s: %d of them are found", len(long), s.prefix, len(got))
		}
		letters := s.prefix + strings.Repeat("ABCDEFGH", s.least)[:s.least]
		if got := found(scanShapes(letters), letters); (got == "") != s.mixed {
			t.Errorf("in %q: %q", letters, got)
		}
		two := value + " " + value
		if got := found(Scan(two), two); got != want+"; "+want {
			t.Errorf("in %q: %q", two, got)
		}
	}
	for text, want := range map[string]bool{
		"AK" + "IA" + body(16): true, "AK" + "IA" + body(15): false, "AK" + "IA" + body(17): false,
		"AK" + "IA" + body(16) + "_": false, "AK" + "IA" + body(16) + "a": false, "AK" + "IA" + body(16) + "-": true,
		"AK": false, "A": false, "": false,
	} {
		if got := len(Scan(text)) == 1; got != want {
			t.Errorf("in %q: %t", text, got)
		}
	}
}

func TestWebTokensAtTheirLimits(t *testing.T) {
	part := func(n int) string { return "ey" + "J" + strings.ToLower(body(n-3)) }
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"the shortest", part(10) + "." + part(10) + "." + body(10), true},
		{"a short head", part(9) + "." + part(10) + "." + body(10), false},
		{"short claims", part(10) + "." + part(9) + "." + body(10), false},
		{"a short signature", part(10) + "." + part(10) + "." + body(9), false},
		{"no signature", part(10) + "." + part(10), false},
		{"no point before it", part(10) + "." + part(10) + "," + body(10), false},
		{"claims that are none", part(10) + "." + body(10) + "." + body(10), false},
		{"a signature of few letters", part(10) + "." + part(10) + "." + strings.Repeat("ab1", 9), false},
		{"a signature of five letters", part(10) + "." + part(10) + "." + strings.Repeat("abc12", 3), false},
		{"a word before it", "x" + part(10) + "." + part(10) + "." + body(10), false},
		{"behind one that is none", part(10) + "." + part(12) + " " + part(10) + "." + part(10) + "." + body(10), true},
	} {
		list := scanJWTs(nil, tt.text)
		if (len(list) == 1) != tt.want {
			t.Errorf("%s: %v in %q", tt.name, list, tt.text)
		}
		if tt.want && list[0].End != len(tt.text) {
			t.Errorf("%s: it ends at %d of %d", tt.name, list[0].End, len(tt.text))
		}
	}
}

func TestPrivateKeysAtTheirLimits(t *testing.T) {
	begin, end := "-----BEGIN "+"PRIVATE KEY-----", "-----END "+"PRIVATE KEY-----"
	label := func(n int) string { return "-----BEGIN " + strings.Repeat("X", n) + "PRIVATE KEY" + "-----" }
	for _, tt := range []struct {
		name, text string
		want       int // bytes that are found
	}{
		{"the shortest", begin + "\n" + body(40) + "\n" + end + "\nmore", len(begin) + 42 + len(end)},
		{"a shorter one", begin + "\n" + body(39) + "\n" + end, 0},
		{"with another sign inside", begin + body(39) + "(" + body(39) + end, 0},
		{"without an end", begin + "\n" + body(40) + "\n\nmore", len(begin) + 47},
		{"with an end that does not end", begin + body(40) + "-----END PRIVATE", len(begin) + 40},
		{"with another end", begin + body(40) + "-----BEGIN X", len(begin) + 40},
		{"with dashes inside", begin + "\nA-B: c\n\n" + body(40) + "\n" + end, len(begin) + 50 + len(end)},
		{"with the longest label", label(48) + body(40), len(label(48)) + 40},
		{"with a longer label", label(49) + body(40), 0},
		{"with numbers of lines", begin + "\n     2→" + body(40) + "\n     3→" + end, len(begin) + 60 + len(end)},
		{"with a margin", begin + "\n2 │ " + body(40) + "\n> | " + end, len(begin) + 52 + len(end)},
		{"with an end at once", begin + body(40) + "-----END -----x", len(begin) + 54},
	} {
		list := scanPrivateKeys(nil, tt.text)
		got := 0
		if len(list) == 1 && list[0].Start == 0 {
			got = list[0].End
		}
		if got != tt.want {
			t.Errorf("%s: %d bytes of %d, want %d", tt.name, got, len(tt.text), tt.want)
		}
	}
}

// Tokens behind schemes have 16 bytes and more; passwords in URLs have three.
func TestPlacesAtTheirLimits(t *testing.T) {
	value := strings.ToLower(body(8)) + "Qz7Yw9Vx"
	at := "://"
	for _, tt := range []struct {
		name, text, want string
	}{
		{"a token", "Bearer " + value, "bearer-token " + value},
		{"a short token", "Bearer " + value[:15], ""},
		{"a token at the end of a sentence", "bearer " + value + "...", "bearer-token " + value},
		{"a word that ends so", "Forbearer " + value, ""},
		{"the end of a word", "earer " + value, ""},
		{"a port and a path", "x" + at + "a:k9T/h", ""},
		{"a word that ends like it", "wearer " + value, ""},
		{"behind an escape", `\nBearer ` + value, "bearer-token " + value},
		{"another scheme", "Authorization: Basic " + value, "bearer-token " + value},
		{"a word", "Bearer " + strings.Repeat("abcdefgh", 3), ""},
		{"few letters", "Bearer " + strings.Repeat("ab1", 9), ""},
		{"five different signs", "Bearer " + strings.Repeat("ab1c2", 5), ""},
		{"six different signs", "Bearer " + strings.Repeat("ab1c2d", 4), "bearer-token " + strings.Repeat("ab1c2d", 4)},
		{"one sign most of the time", "Bearer " + strings.Repeat("a", 14) + "bcde1f", ""},
		{"an example", "Bearer your" + value, ""},

		{"a password in a URL", "x" + at + "a:k9T@h", "url-password k9T"},
		{"a short one", "x" + at + "a:k9@h", ""},
		{"without a scheme", at + "a:k9T@h", ""},
		{"a sign before it", "+" + at + "a:k9T@h", ""},
		{"without a host", "x" + at + "a:k9T@", ""},
		{"before a host that is none", "x" + at + "a:k9T@-", ""},
		{"before an address", "x" + at + "a:k9T@[::1]", "url-password k9T"},
		{"without a colon", "x" + at + "ak9T@h", ""},
		{"with two colons", "x" + at + "a:k9:T@h", "url-password k9:T"},
		{"in a path", "x" + at + "h/a:k9T@h", ""},
		{"that does not end", "x" + at + "a:k9T", ""},
		{"two of them", "x" + at + "a:k9T@h y" + at + "b:m8Z@i", "url-password k9T; url-password m8Z"},
	} {
		if got := found(Scan(tt.text), tt.text); got != tt.want {
			t.Errorf("%s: in %q: %q, want %q", tt.name, tt.text, got, tt.want)
		}
	}
}

// What is assigned is looked at over few signs, up to a length, and as far as it is no name.
func TestAssignmentsAtTheirLimits(t *testing.T) {
	value := "k9T" + "qzL" + "m4" + "vR7"
	drawn := func(n int) string { return strings.Repeat("k9TqzLm4vR7wX2bN8cF3hJ6dG5sP1", n/29+1)[:n] }
	for _, tt := range []struct {
		name, before, value, after string
		want                       bool
	}{
		{"a name", "token=", value, "", true},
		{"four signs before", "token    =", value, "", true},
		{"five signs before", "token     =", value, "", false},
		{"four spaces behind", "token=    ", value, "", true},
		{"five spaces behind", "token=     ", value, "", false},
		{"a tab", "token:\t", value, "", true},
		{"a longest name", strings.Repeat("a", 59) + "token=", value, "", true},
		{"escaped quotes", `token=\\\"`, value, `\"`, true},
		{"a comparison", "token==", value, "", false},
		{"an arrow", "token=>", value, "", true},
		{"a walrus", "token:=", value, "", true},
		{"a path of names", "token::", value, "", false},
		{"a quote that does not end", `token="`, value, "", false},
		{"a quote that ends with the line", `token="`, value, "\n", false},
		{"seven bytes", "token=", "k9T" + "qzL" + "m", "", false},
		{"eight bytes", "token=", "k9T" + "qzL" + "m4", "", true},
		{"512 bytes", "token=", drawn(512), "", true},
		{"513 bytes", "token=", drawn(513), "", false},
		{"a name that is assigned itself", "token=", value, "=x", false},
		{"an equals sign at the end", "token=", value + "==", "", true},
		{"a bracket behind", "token=", value, ")", false},
		{"an ampersand behind", "token=", value, "&x", true},
		{"an opening tag behind", "token=", value, "<", true},
		{"a name that does not tell", "tokens=", value, "", false},
		{"a name of two words", "api-Key: ", value, "", true},
		{"a number", "token=", "12345" + "67890", "", false},
		{"letters", "token=", "qwer" + "tyuiop", "", false},
		{"a name with a digit", "token=", "maximum" + "Count2", "", false},
		{"the same in quotes", "token='", "maximum" + "Count2", "'", true},
		{"a name with two runs of digits", "token=", "maxi2mum" + "Count2", "", true},
		{"a name with two numbers behind hyphens", "token=", "max-2imum" + "Count-3x", "", true},
		{"words with hyphens", "token=", "maxi-mum-" + "Count2", "", false},
		{"eight signs with two digits", "token=", "abcd" + "ef12", "", true},
		{"nine with two", "token=", "abcd" + "efg12", "", false},
		{"as much information as is wanted", `token="`, strings.Repeat("a1b2", 4), `"`, true},
		{"512 bytes with a comma", `token="`, drawn(99) + "," + drawn(412), `"`, true},
		{"few different signs", `token="`, strings.Repeat("a1b1", 5), `"`, false},
		{"an equals sign in quotes", `token="`, "k9Tq" + "=zLm4" + "vR7", `"`, true},
		{"a word that is mostly digits", "token=", "ab" + "27391", "", false},
		{"a longer one of these", "token=", "abq" + "2739184", "", true},
		{"a path with a point", "token=", "v2" + ".refs9.kind", "", false},
		{"a folder", "pwd=", "/srv/" + "a1b2c3d4e5", "", false},
		{"a home", "pwd=", "~x" + "a1b2c3d4e5", "", false},
		{"an address", "token=", "x9" + "://a1b2c3d4", "", false},
	} {
		text := tt.before + tt.value + tt.after
		want := ""
		if tt.want {
			want = "assignment " + tt.value
		}
		if got := found(Scan(text), text); got != want {
			t.Errorf("%s: in %q: %q, want %q", tt.name, text, got, want)
		}
	}
}

// The forms of the package comment, at their least lengths and one below.
func TestPasswordFormsAtTheirLimits(t *testing.T) {
	for _, tt := range []struct {
		name, before, value, after string
		want                       bool
	}{
		{"in quotes, with a digit", `x password="`, "nig" + "t1", `"`, true},
		{"a byte less", `x password="`, "nig" + "1", `"`, false},
		{"in quotes, with a sign", `x password="`, "nig" + "t!", `"`, true},
		{"in quotes, a word", `x password="`, "night" + "o", `"`, true},
		{"a letter less", `x password="`, "nigh" + "t", `"`, false},
		{"a word with a capital", `x password="`, "Night" + "o", `"`, false},
		{"a word with a hyphen", `x password="`, "night" + "-o", `"`, false},
		{"in quotes, a number", `x password="`, "482" + "130", `"`, true},
		{"a digit less", `x password="`, "482" + "13", `"`, false},
		{"a bare number", "x password=", "482" + "130", "", false},
		{"a number alone", "password=", "482" + "130", "", false},
		{"a nine", `x password="`, "nigh" + "9", `"`, true},
		{"a name of 64 bytes, alone", strings.Repeat("a", 56) + "password: ", "night" + "o", "", true},
		{"the end of a longer name", strings.Repeat("a", 57) + "password: ", "night" + "o", "", false},
		{"signs", `x password="`, "!!" + "!!!!", `"`, false},
		{"bare, with a digit", "x password=", "nig" + "t1", "", true},
		{"bare, with a point", "x password=", "nig." + "t1", "", false},
		{"bare, with an underscore", "x password=", "nig_" + "t1", "", false},
		{"the same alone", "password=", "nig_" + "t1", "", true},
		{"alone, with a point", "password=", "nig." + "t1", "", false},
		{"in quotes, with a point", `x password="`, "nig." + "t1", `"`, true},
		{"bare, a word alone", "passwd: ", "night" + "o", "\nx", true},
		{"bare, a word that is not", "x passwd: ", "night" + "o", "", false},
		{"a word before another", "passwd: ", "night" + "o", " x", false},
		{"a list", "x\n  * passwd: ", "night" + "o", "  ", true},
		{"a comment", "// passwd: ", "night" + "o", "", true},
		{"64 bytes", `x password="`, strings.Repeat("a", 62) + "1!", `"`, true},
		{"65 bytes", `x password="`, strings.Repeat("a", 63) + "1!", `"`, false},
		{"behind a flag", "run --password ", "nig" + "t1", " x", true},
		{"a word behind a flag", "run --password ", "night" + "o", " x", false},
		{"a word in quotes behind a flag", "run --passphrase '", "night" + "o", "' x", true},
		{"one in other quotes", `run --passwd "`, "night" + "o", `"`, true},
		{"64 bytes behind a flag", "run --password ", strings.Repeat("a", 62) + "1!", "", true},
		{"65 bytes behind a flag", "run --password ", strings.Repeat("a", 63) + "1!", "", false},
		{"what says that it is one", `x password="`, "mypwd" + "1!", `"`, false},
		{"a part of the word", `x password="`, "pass" + "m1!", `"`, false},
		{"a path", `x password="`, "a/b" + "c1!", `"`, false},
		{"two hyphens", `x password="`, "ab--" + "c1", `"`, false},
		{"a word that tells, with a number", `x password="`, "arr" + "ay1!", `"`, false},
		{"what a program puts together", "x password=", "+" + "night1", "", false},
		{"the working folder", "PWD=", "nig" + "t1", "", false},
		{"the one before", "OLDPWD=", "nig" + "t1", "", false},
		{"another folder", "x_pwd=", "nig" + "t1", "", true},
	} {
		text := tt.before + tt.value + tt.after
		want := ""
		if tt.want {
			want = "password " + tt.value
		}
		if got := found(Scan(text), text); got != want {
			t.Errorf("%s: in %q: %q, want %q", tt.name, text, got, want)
		}
	}
}

func TestPersonalAtItsLimits(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"the shortest address", "a@b.cd", "email a@b.cd"},
		{"a domain of one letter", "a@b.c", ""},
		{"no domain before the point", "a@.cd", ""},
		{"no point", "a@bcd", ""},
		{"a point at the end", "a@b.cd.", "email a@b.cd"},
		{"points and hyphens at the end", "a@b.cd.-.", "email a@b.cd"},
		{"a digit in the last part", "a@b.c1d", ""},
		{"two points", "a@b..cd", ""},
		{"a hyphen at the beginning", "a@-b.cd", ""},
		{"signs before it", "._+a.b-c@b.cd", "email a.b-c@b.cd"},
		{"nothing before it", "@b.cd", ""},
		{"signs alone before it", "..@b.cd", ""},
		{"an escape before it", `\na@b.cd`, "email a@b.cd"},
		{"an escape and nothing else", `\n@b.cd`, ""},
		{"64 bytes before it", strings.Repeat("a", 64) + "@b.cd", "email " + strings.Repeat("a", 64) + "@b.cd"},
		{"65 bytes before it", strings.Repeat("a", 65) + "@b.cd", "email " + strings.Repeat("a", 64) + "@b.cd"},
		{"a remote", "git@b.cd:x", ""},
		{"a path", "a@b.cd/x", ""},
		{"a question", "a@b.cd?", "email a@b.cd"},
		{"an escaped letter of another script", `\ö@b.cd`, "email ö@b.cd"},
		{"a control character before it", "a\u0080b@c.de", "email b@c.de"},
		{"a domain of 255 bytes", "a@" + strings.Repeat("b", 252) + ".cd", "email a@" + strings.Repeat("b", 252) + ".cd"},
		{"a longer domain", "a@" + strings.Repeat("b", 300) + ".cd", ""},
		{"two", "a@b.cd,c@d.ef", "email a@b.cd; email c@d.ef"},
		{"one behind what is none", "a@b c@d.ef", "email c@d.ef"},
		{"one that ends where another begins", "a@b.cd@e.fg", "email a@b.cd@e.fg"},

		{"the shortest number", "x +49 301 234", "phone +49 301 234"},
		{"one of 15 digits", "x +49 301 234 5678 901", "phone +49 301 234 5678 901"},
		{"one of seven", "x +49 301 23", ""},
		{"one of 16", "x +49 301 234 5678 9012", ""},
		{"ten digits without a gap", "x +4930123456", "phone +4930123456"},
		{"nine", "x +493012345", ""},
		{"nine with a gap", "x +49 3012345", "phone +49 3012345"},
		{"a zero at the beginning", "x +04 301 234 567", ""},
		{"at the beginning of a text", "+49 301 234 567", ""},
		{"at the beginning of a line", "x\n+49 301 234 567", ""},
		{"three groups", "x 415-555-0123", "phone 415-555-0123"},
		{"other groups", "x 4155-55-0123", ""},
		{"groups of three, four and three", "x 415-5550-123", ""},
		{"groups of three, three, three and one", "x 415-555-012-3", ""},
		{"groups of four", "x 4155 550 123", ""},
		{"ten digits", "x 4155550123", ""},
		{"eleven digits", "x 415-555-01234", ""},
		{"one at the beginning", "415-555-0123", "phone 415-555-0123"},
		{"brackets", "(415) 555-0123", "phone (415) 555-0123"},
		{"brackets with another gap", "(415)  555-0123", ""},
		{"a gap of two", "x 415 - 555-0123", ""},
		{"another sign", "x 415*555-0123", ""},
		{"a word behind", "x 415-555-0123a", ""},
		{"a number behind a point", "x 415-555-0123.5", ""},
		{"a number behind a colon", "x 415-555-0123:5", ""},
		{"a sentence's end", "x 415-555-0123. And", "phone 415-555-0123"},
		{"a point at the end", "x 415-555-0123.", "phone 415-555-0123"},
		{"a word before", "a415-555-0123", ""},
		{"a sign before", "#415-555-0123", ""},
		{"a point before", ".415-555-0123", ""},
		{"a name behind a point", "x 415-555-0123.com", ""},
		{"a number before", "1,415-555-0123", ""},
		{"one behind another number", "x 12 415-555-0123", "phone 415-555-0123"},
		{"one behind what is none and a comma", "x 12, 415-555-0123", "phone 415-555-0123"},
		{"two", "415-555-0123, 415-555-0124", "phone 415-555-0123; phone 415-555-0124"},
	} {
		if got := found(Personal(tt.text), tt.text); got != tt.want {
			t.Errorf("%s: in %q: %q, want %q", tt.name, tt.text, got, tt.want)
		}
	}
}

// Of findings that overlap one is left, from the first byte to the last, with the kind that
// says most; those that only touch stay two.
func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name      string
		all, want []Finding
	}{
		{"none", nil, nil},
		{"in another order", []Finding{{kindJWT, 5, 9}, {kindURL, 0, 2}}, []Finding{{kindURL, 0, 2}, {kindJWT, 5, 9}}},
		{"that touch", []Finding{{kindJWT, 0, 5}, {kindURL, 5, 9}}, []Finding{{kindJWT, 0, 5}, {kindURL, 5, 9}}},
		{"that overlap", []Finding{{kindJWT, 3, 9}, {kindURL, 0, 4}}, []Finding{{kindJWT, 0, 9}}},
		{"one within another", []Finding{{kindURL, 0, 9}, {kindJWT, 3, 5}}, []Finding{{kindURL, 0, 9}}},
		{"with the same beginning", []Finding{{kindURL, 0, 3}, {kindJWT, 0, 5}}, []Finding{{kindURL, 0, 5}}},
		{"three in a row", []Finding{{kindURL, 4, 8}, {kindJWT, 0, 5}, {kindNPM, 7, 9}}, []Finding{{kindURL, 0, 9}}},
	} {
		if got := merge(tt.all); len(got) != len(tt.want) || len(got) > 0 && found(got, "0123456789") != found(tt.want, "0123456789") {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
