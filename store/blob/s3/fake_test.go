package s3_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The keys and the bucket of a fake.
const (
	accessKey = "AKIAEXAMPLE"
	secretKey = "a key that is in no error"
	bucket    = "blobs"
	region    = "eu-test-1"
)

// A version is one version of an object. A deletion without a version leaves a marker.
type version struct {
	id     string
	body   []byte
	marker bool
}

// A fake is a server with one bucket. It checks what it is sent: the signature of each request and the
// digest of each body.
type fake struct {
	*httptest.Server

	t         *testing.T
	versioned bool
	plain     bool // it does not know versions
	locked    bool // it deletes nothing, and says that it did
	refuse    func(r *http.Request) (status int, code string)

	mu      sync.Mutex
	objects map[string][]version
	last    int
	sent    []string // the requests, as method and name
}

func newFake(t *testing.T, set func(f *fake)) *fake {
	f := &fake{t: t, objects: make(map[string][]version)}
	if set != nil {
		set(f)
	}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name, isBucket := strings.CutPrefix(r.URL.Path, "/"+bucket+"/")
	f.sent = append(f.sent, r.Method+" "+name)
	if err := checkSignature(r); err != nil {
		f.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		fail(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	if f.refuse != nil {
		if status, code := f.refuse(r); status != 0 {
			fail(w, status, code)
			return
		}
	}
	query := r.URL.Query()
	switch {
	case !isBucket:
		fail(w, http.StatusNotFound, "NoSuchBucket")
	case name == "" && r.Method == http.MethodHead:
	case name == "" && query.Has("versions") && f.plain:
		fail(w, http.StatusNotImplemented, "NotImplemented")
	case name == "" && query.Has("versions"):
		f.list(w, query.Get("prefix"))
	case r.Method == http.MethodPut:
		body, err := readBody(r)
		if err != nil {
			f.t.Errorf("PUT %s: %v", name, err)
			fail(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch")
			return
		}
		f.add(name, version{body: body})
	case r.Method == http.MethodDelete:
		f.remove(name, query)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		f.get(w, r, name)
	default:
		fail(w, http.StatusNotImplemented, "NotImplemented")
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>refused</Message></Error>`, code)
}

func (f *fake) add(name string, v version) {
	f.last++
	v.id = "v" + strconv.Itoa(f.last)
	if !f.versioned {
		v.id, f.objects[name] = "null", nil
	}
	f.objects[name] = append(f.objects[name], v)
}

func (f *fake) remove(name string, query url.Values) {
	id := query.Get("versionId")
	switch {
	case f.locked:
	case id == "" && f.versioned:
		f.add(name, version{marker: true})
	case id == "":
		delete(f.objects, name)
	default:
		f.objects[name] = slices.DeleteFunc(f.objects[name], func(v version) bool { return v.id == id })
	}
}

func (f *fake) get(w http.ResponseWriter, r *http.Request, name string) {
	all := f.objects[name]
	if len(all) == 0 || all[len(all)-1].marker {
		fail(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	body := all[len(all)-1].body
	w.Header().Set("ETag", `"etag"`)
	w.Header().Set("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body)
	}
}

// list answers with the versions of all objects whose names have a prefix.
func (f *fake) list(w http.ResponseWriter, prefix string) {
	type entry struct {
		Key, LastModified string
		ID                string `xml:"VersionId"`
		IsLatest          bool
	}
	var page struct {
		XMLName      xml.Name `xml:"ListVersionsResult"`
		Name, Prefix string
		Version      []entry
		DeleteMarker []entry
	}
	page.Name, page.Prefix = bucket, prefix
	for name, all := range f.objects {
		for i, v := range all {
			e := entry{Key: name, ID: v.id, LastModified: "2026-01-02T03:04:05Z", IsLatest: i == len(all)-1}
			switch {
			case !strings.HasPrefix(name, prefix):
			case v.marker:
				page.DeleteMarker = append(page.DeleteMarker, e)
			default:
				page.Version = append(page.Version, e)
			}
		}
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(page)
}

// holds returns the names of objects of which any version has a text.
func (f *fake) holds(text string) (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, all := range f.objects {
		for _, v := range all {
			if strings.Contains(string(v.body), text) {
				names = append(names, name)
			}
		}
	}
	return names
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, text)
	return h.Sum(nil)
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// checkSignature computes the signature of a request and compares it with the one that it has, by
// version 4 of the rules for Amazon's services.
func checkSignature(r *http.Request) error {
	var credential, names, signature string
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch key {
		case "Credential":
			credential = value
		case "SignedHeaders":
			names = value
		case "Signature":
			signature = value
		}
	}
	at := r.Header.Get("X-Amz-Date")
	if len(at) < 8 {
		return fmt.Errorf("no time in the headers")
	}
	scope := at[:8] + "/" + region + "/s3/aws4_request"
	if credential != accessKey+"/"+scope {
		return fmt.Errorf("the credential is %q", credential)
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(names, ";") {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		headers.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"), headers.String(), names, r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	key := []byte("AWS4" + secretKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	want := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+at+"\n"+scope+"\n"+sum(canonical)))
	if want != signature {
		return fmt.Errorf("the signature is %q, want %q", signature, want)
	}
	return nil
}

// readBody returns the body of a request after it has checked its digest, which is signed.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if want := sum(string(body)); err == nil && r.Header.Get("X-Amz-Content-Sha256") != want {
		err = fmt.Errorf("the digest of the body is %q, want %q", r.Header.Get("X-Amz-Content-Sha256"), want)
	}
	return body, err
}
