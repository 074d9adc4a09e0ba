package auth

import (
	"net/http"
	"slices"
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
