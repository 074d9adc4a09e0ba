package auth

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// A door has limits whatever is said, and those that are said where they are.
func TestDoorDefaults(t *testing.T) {
	d, err := NewDoor(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.maxBody != 32<<20 || d.maxURL != 8<<10 || d.credentials.most != 128 || d.addresses.most != 512 || d.failures.most != 30 || d.failures.per != time.Minute {
		t.Errorf("body %d, URL %d, per credential %d, per address %d, failures %d in %v", d.maxBody, d.maxURL, d.credentials.most, d.addresses.most, d.failures.most, d.failures.per)
	}
	if d.credentialRate.per != 500 || d.addressRate.per != 2000 {
		t.Errorf("%d and %d requests in a second", d.credentialRate.per, d.addressRate.per)
	}
	if want := []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete}; !slices.Equal(d.methods, want) {
		t.Errorf("methods %q, want %q", d.methods, want)
	}
	if d.now == nil {
		t.Error("there is no clock")
	}
	d, err = NewDoor(nil, &DoorOptions{MaxBody: 1, MaxURL: 2, Limits: DoorLimits{PerCredential: 3, PerAddress: 4}, Failures: 5, Methods: []string{http.MethodGet}})
	if err != nil {
		t.Fatal(err)
	}
	if d.maxBody != 1 || d.maxURL != 2 || d.credentials.most != 3 || d.addresses.most != 4 || d.failures.most != 5 || len(d.methods) != 1 {
		t.Errorf("body %d, URL %d, per credential %d, per address %d, failures %d, methods %q", d.maxBody, d.maxURL, d.credentials.most, d.addresses.most, d.failures.most, d.methods)
	}
}

// Text of another form than a credential's is refused before the store is asked.
func TestFormOfCredentials(t *testing.T) {
	secret := strings.Repeat("-_Az09", 8)[:43]
	for text, want := range map[string]string{
		Prefix + "0123abcf_" + secret:       "tok_0123abcf",
		Prefix + "0123abcg_" + secret:       "",
		Prefix + "0123ABCF_" + secret:       "",
		Prefix + "0123abcf-" + secret:       "",
		Prefix + "0123abcf_" + secret[1:]:   "",
		Prefix + "0123abcf_" + secret + "A": "",
		Prefix + "0123abcf_+" + secret[1:]:  "",
		Prefix + "0123abcf_=" + secret[1:]:  "",
		"0123abcf_" + secret:                "",
		"":                                  "",
	} {
		if got, ok := idOf(text); got != want || ok != (want != "") {
			t.Errorf("idOf(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

// Slow clients are given up on.
func TestTimesOfServers(t *testing.T) {
	s := Server(http.NotFoundHandler())
	if s.ReadHeaderTimeout != 5*time.Second || s.ReadTimeout != 30*time.Second || s.WriteTimeout != 2*time.Minute || s.IdleTimeout != 2*time.Minute || s.MaxHeaderBytes != 16_384 {
		t.Errorf("header in %v and %d bytes, request in %v, answer in %v, idle for %v", s.ReadHeaderTimeout, s.MaxHeaderBytes, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout)
	}
	if !s.DisableGeneralOptionsHandler || s.ErrorLog == nil {
		t.Error("a request for OPTIONS does not come to the handler, or the log shows content")
	}
}
