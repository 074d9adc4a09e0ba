package s3

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The signatures are those of the examples in Amazon's description of version 4.
func TestSign(t *testing.T) {
	o := &Options{AccessKey: "AKIA" + "IOSFODNN7EXAMPLE", SecretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", Region: DefaultRegion}
	now := time.Date(2013, time.May, 24, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, url, header, value string
		want                     string
	}{
		{"an object", "https://examplebucket.s3.amazonaws.com/test.txt", "Range", "bytes=0-9", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"a parameter without a value", "https://examplebucket.s3.amazonaws.com/?lifecycle", "", "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"two parameters", "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", "", "", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.header != "" {
			r.Header.Set(tt.header, tt.value)
		}
		o.sign(r, digestOf(nil), now)
		_, got, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
		if got != tt.want {
			t.Errorf("%s: the signature is %s, want %s\n%s", tt.name, got, tt.want, r.Header.Get("Authorization"))
		}
	}
}

// The token of temporary keys is sent and signed.
func TestSignWithAToken(t *testing.T) {
	o := &Options{AccessKey: "a", SecretKey: "b", Token: "temporary", Region: DefaultRegion}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://s3.example.org/bucket/k", nil)
	if err != nil {
		t.Fatal(err)
	}
	o.sign(r, digestOf(nil), time.Unix(0, 0))
	if got := r.Header.Get("X-Amz-Security-Token"); got != "temporary" {
		t.Errorf("the token is %q", got)
	}
	if got := r.Header.Get("Authorization"); !strings.Contains(got, "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,") {
		t.Errorf("the token is not signed: %s", got)
	}
}
