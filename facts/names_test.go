package facts

import (
	"strings"
	"testing"
)

// namesOf returns the names of a text: the kind and the text of each, with bars between.
func namesOf(text string) string {
	var got []string
	Each(text, func(id Identifier, _ int) { got = append(got, string(id.Kind)+" "+id.Text) })
	return strings.Join(got, " | ")
}

// The figures of a text: dates, quantities and numbers, and digits that are no figures.
func TestFigures(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		// Dates, with the time after a T; times of the day and zones are no figures.
		{"2024-05-15", "kebab 2024-05-15"},
		{"on 2024-05-15T10:30:00Z it", "kebab 2024-05-15"},
		{"2024-05-15T10:30:00.123Z x", "kebab 2024-05-15"},
		{"2024-05-15T10:30:00.123456+02:00 x", "kebab 2024-05-15"},
		{"2024-05-15T10:30:00+0200 x", "kebab 2024-05-15"},
		{"2024-05-15T10:30:00-02 x", "kebab 2024-05-15"},
		{"2024-05-15 10:30:00,123 +0200 done", "kebab 2024-05-15"},
		{"12:30 and 10:30:00.123Z and 10:30:00+02:00", ""},
		{"10:30:00.1234 10:30:00,1234 10:30+0200 10:30-02:00", ""},
		{"05/Mar/2024:10:30:00 +0100", ""},
		{"05/Mar/2024", ""},
		{"at 10:30:00 -0700 in", ""},
		{"x +0100 y", "number 0100"}, // no time before it
		{"10 +2100", "number 2100"},  // no zone
		{"12:305", "number 305"},
		{"123:45", ""}, // a line number

		// Formats and escapes of URLs.
		{"%123 %-123", ""},
		{"100%", "quantity 100%"},

		// Addresses and versions.
		{"192.168.0.1 and 10.0.0.255", "id 192.168.0.1 | id 10.0.0.255"},
		{"1.2.3.4", "id 1.2.3.4"},
		{"0.0.0.0", "id 0.0.0.0"},
		{"255.255.255.255", "id 255.255.255.255"},
		{"1.2.3 and v1.2.3-rc.1 and 12.34.567", "version 1.2.3 | version v1.2.3-rc.1 | version 12.34.567"},
		{"1.02.3", ""},
		{"It is out. 1.2.3 has it, as .3.2.1-lamp.yaml says", "version 1.2.3 | file .3.2.1-lamp.yaml"},
		{"0.1.0", "version 0.1.0"},

		// Units directly after a number, after a space, a dash and spaces of other widths.
		{"40ms 3.5s 2h 1d 16GB 4k 1.5x 2rem 10µs 20°C", "quantity 40ms | quantity 3.5s | quantity 2h | quantity 1d | quantity 16GB | quantity 4k | quantity 1.5x | quantity 2rem | quantity 10µs | quantity 20°C"},
		{"40 ms, 3.5 GB, 45 %, 10 µs, 7 €, 9 £.", "quantity 40 ms | quantity 3.5 GB | quantity 45 % | quantity 10 µs | quantity 7 € | quantity 9 £"},
		{"40\u00a0ms, 41\u202fms", "quantity 40\u00a0ms | quantity 41\u202fms"},
		{"a 30-minute wait, 24-hour clock", "quantity 30-minute | quantity 24-hour"},
		{"4 k, 5 m, 6 x, 7 g", ""}, // after a space a short unit may be a word
		{"120 requests/s, 35 ns/op, 12 MB/s", "quantity 120 requests/s | quantity 35 ns/op | quantity 12 MB/s"},
		{"12 files/s 12 files/x 12 files", "quantity 12 files/s"},
		{"5 supercomputer/s", ""},
		{"1h30m 5m2.5s 1d2h 3s5h", "quantity 1h30m | quantity 5m2.5s | quantity 1d2h"},
		{"1h30m15s left", "quantity 1h30m15s"},
		{"45%, 45 %, 45%d", "quantity 45% | quantity 45 %"},
		{"12345b 123456b 123456d 123456m", "quantity 12345b | hash 123456b | hash 123456d | quantity 123456m"}, // six digits and such a letter may be a hash
		{"17 % 5", ""}, // the operator for the remainder of a division
		{"12 min(3)", ""},
		{"12 min's", ""},
		{"10-20 ms and 1.5-2.5s and 10-20 apples", "quantity 10-20 ms | quantity 1.5-2.5s"},
		{"1,5 GB and 1,250 ms and 1.299,00 EUR and 1.250.000 EUR", "quantity 1,5 GB | quantity 1,250 ms | quantity 1.299,00 EUR | quantity 1.250.000 EUR"},
		{"10 000 km and 1 234 567 bytes", "quantity 10 000 km | quantity 1 234 567 bytes"},
		{"10 000 apples, 10 000 m, 10 000", ""},
		{"[1.250.000 ms", "quantity 1.250.000 ms"},

		// Currencies.
		{"$7,136 and $5.20 and €20 and £300 and $12", "quantity $7,136 | quantity $5.20 | quantity €20 | quantity £300 | quantity $12"},
		{"$1 and €5", "quantity €5"}, // $1 is an argument of a shell
		{"$5 million, $7k", "quantity $7k"},

		// Plain numbers have three digits.
		{"12 123 1234 1,234 12,345,678 0.25 1.5 3.14159 000", "number 123 | number 1234 | number 1,234 | number 12,345,678 | number 0.25 | number 3.14159"},
		{"123456789012345678 and 1234567890123456789", "number 123456789012345678"},
		{"[100,200,300] (100,200)", "number 100 | number 200 | number 300 | number 100 | number 200"},
		{"x = 1,234; y", "number 1,234"},
		{"a--123.4 a--123.x", "number 123"},
		{"a--123456789012345678 a--1234567890123456789", "number 123456789012345678"},
		{"from 100-200", "number 100 | number 200"},
		{"x.123", ""},

		// Line numbers are no figures.
		{"118:\tx := 1\n119:\ty := 2", ""},
		{"   118→\tx", ""},
		{"   118 | x", ""},
		{"118- x", ""},
		{`118\tx\n119\ty`, ""},
		{"118 │ x", ""},
		{"line 118: x", "number 118"},
		{"118 x", "number 118"},
		{"118;", "number 118"},
	} {
		if got := namesOf(tt.in); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

// Names at the edges of their kinds.
func TestFiguresEnd(t *testing.T) {
	for _, tt := range []struct {
		text string
		end  int
		want bool
	}{
		{"5", 1, true}, {"5 a", 1, true}, {"5.", 1, true}, {"5/a", 1, false}, {"5. a", 1, true}, {"5a", 1, false}, {"a5/ b", 2, true}, {"5/", 1, true},
	} {
		if got := endsFigure(tt.text, tt.end); got != tt.want {
			t.Errorf("a figure ends at %d of %q: %v, want %v", tt.end, tt.text, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		// Words.
		{"getX aB3 max_size _x_y __init__ _private trailing_", "symbol getX | symbol max_size | symbol _x_y | symbol __init__"},
		{"HTTPServer OOMKilled GitHub URLs XMLs", "symbol HTTPServer | symbol OOMKilled"},
		{"1st 22nd 3rd 4th 4xx 2er 1080p", ""},
		{"M10 10l20 5c5", ""},
		{"sha256 utf8 x2y4 3000x", "symbol sha256 | symbol utf8 | symbol x2y4 | quantity 3000x"},
		{"Makefile Dockerfile makefile Gemfile HTTPxyz HTTPxy", "file Makefile | file Dockerfile | file Gemfile | symbol HTTPxyz"},

		// Files.
		{"a.go main.go p.m U.S.C x.h README.MD notes.Md", "file a.go | file main.go | file x.h | file README.MD"},
		{"this.key console.log process.env Node.js app.log self.db", "file app.log"},
		{"main.go(17,5) fmt.go(x) open.py()", "file main.go"},
		{".gitignore .env .env.local .foo .eslintrc", "file .gitignore | file .env | file .env.local | file .eslintrc"},
		{"env.local gitignore npmrc", ""},
		{"pool.go-17-  return", "file pool.go"},
		{"pkg/pool.go-17-  return", "path pkg/pool.go"},

		// Paths.
		{"/srv/app ~/notes/x ./a/b ../a/b.go .github/workflows/ci.yml", "path /srv/app | path ~/notes/x | path a/b.go | path .github/workflows/ci.yml"},
		{"a/b/c s/old/new/ and/or", ""},
		{"HTTP/1.1 bg-amber-500/20 README.md/LICENSE.txt", "kebab bg-amber-500 | file README.md | file LICENSE.txt"},
		{"v1/v2 Q1/Q2 IPv4/IPv6", "symbol IPv4 | symbol IPv6"},
		{"feature/retry-on-timeout fix/a-b", "path feature/retry-on-timeout"},
		{"@scope/pkg @acme/pool-tools", "path @scope/pkg | path @acme/pool-tools"},
		{"main..topic-branch-name a/../b/c", "kebab topic-branch-name | path a/../b/c"},

		// Addresses.
		{"ada@example.com git@example.com x@y ada@example.c", "email ada@example.com | file example.c"},
		{"github.com/acme/pool@v1.2.3", "path github.com/acme/pool | version v1.2.3"},
		{"git+https://git.example.com/acme.", "url git+https://git.example.com/acme"},
		{"https://%s/x http://a.b ://host =://git.example.com/a", ""},

		// Words joined by dashes.
		{"billing-jobs-sync end-to-end 24-hour drwxr-xr-x a--b-c well-known", "kebab billing-jobs-sync | quantity 24-hour"},
		{"HAT-204 17-step 555-1234 12-34", "kebab HAT-204 | kebab 555-1234"},
		{"urllib3-2.2.1", "symbol urllib3 | version 2.2.1"},
		{"123e4567-e89b-12d3-a456-426614174000", "id 123e4567-e89b-12d3-a456-426614174000"},
		{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "id 01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{"1a2b3c4d deadbeef 1234567", "hash 1a2b3c4d | number 1234567"},

		// The verbs of formats, classes of characters and parts of other words.
		{"%sName %dms [a-z0-9] straßenName x_über", ""},
		{"éLampOn é1234 é40ms", "number 1234 | quantity 40ms"},
	} {
		if got := namesOf(tt.in); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}
