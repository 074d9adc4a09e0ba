package secret

import (
	"strings"
	"testing"
)

func TestRedactPersonal(t *testing.T) {
	for in, want := range map[string]string{
		"Ask ada.l+x@mail.example.org, or Bob <bob@example.com>.": "Ask [redacted: email], or Bob <[redacted: email]>.",
		"mailto:ada@example.org?x":                                "mailto:[redacted: email]?x",
		"call +49 30 1234-5678 now":                               "call [redacted: phone] now",
		"tel: +14155550123.":                                      "tel: [redacted: phone].",
		"(415) 555-0123 or 415-555-0124":                          "[redacted: phone] or [redacted: phone]",
		"münchen.bär@example.com, „иван@example.com“":             "[redacted: email], „[redacted: email]“",
		"写信给ada@example.com":                                      "写信给[redacted: email]",
		"phone=\"415.555.0123\"":                                  "phone=\"[redacted: phone]\"",
	} {
		if got := RedactPersonal(in); got != want {
			t.Errorf("RedactPersonal(%q) = %q, want %q", in, got, want)
		}
		if got := RedactPersonal(want); got != want {
			t.Errorf("again: RedactPersonal(%q) = %q", want, got)
		}
	}
}

func TestNothingPersonal(t *testing.T) {
	for _, text := range []string{
		"git@github.com:ada/lantern.git", "ssh://git@example.org/x", "golang.org/x/term@v0.47.0", "lodash@4.17.21", "@app.route", `see\n@NOTES.md`, "a @ b.c", "x@y", "user@host",
		"+1700000000 in a diff", "a +1 b", "2026-02-03 12:00:00", "1700000000000", "10.0.0.1 192.168.100.200", "1,234,567,890", "v1.2.3-beta", "0x1234567890",
		"555-0123", "123-456-78901", "id 12345678-1234-1234-1234-123456789012", "price: 415 555 01", "1-2-3", "lines +120 -45", "+0 000 000 00 00",
	} {
		if got := RedactPersonal(text); got != text {
			t.Errorf("RedactPersonal(%q) = %q", text, got)
		}
	}
	long := strings.Repeat("1", 100_000) + strings.Repeat("a@", 100_000) + strings.Repeat("+", 100_000)
	if got := RedactPersonal(long); got != long {
		t.Error("something is personal in a row of signs")
	}
}
