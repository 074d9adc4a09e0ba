package s3_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
	"github.com/carrel-dev/carrel/store/blob/blobtest"
	"github.com/carrel-dev/carrel/store/blob/s3"
)

// at returns the place in the bucket of a fake.
func (f *fake) at(t *testing.T, set func(o *s3.Options)) blob.Keeper {
	t.Helper()
	o := &s3.Options{Bucket: bucket, Prefix: "carrel/", Endpoint: f.URL, Region: region, AccessKey: accessKey, SecretKey: secretKey}
	if set != nil {
		set(o)
	}
	p, err := s3.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlace(t *testing.T) {
	for name, set := range map[string]func(*fake){
		"without versions":           nil,
		"with versions":              func(f *fake) { f.versioned = true },
		"that knows nothing of them": func(f *fake) { f.plain = true },
	} {
		t.Run("a bucket "+name, func(t *testing.T) {
			blobtest.Run(t, func(t *testing.T) func() blob.Keeper {
				f := newFake(t, set)
				return func() blob.Keeper { return f.at(t, nil) }
			})
		})
	}
}

// All versions are deleted, and what others have in the bucket is left alone.
func TestDropDeletesAllVersions(t *testing.T) {
	f := newFake(t, func(f *fake) { f.versioned = true })
	p, other := f.at(t, nil), f.at(t, func(o *s3.Options) { o.Prefix = "" })
	for _, body := range []string{"an amber heron", "the same amber heron"} {
		if err := p.Put(t.Context(), "scope/k", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Put(t.Context(), "scope/k", []byte("a violet heron")); err != nil {
		t.Fatal(err)
	}
	if err := p.Drop(t.Context(), "scope/k"); err != nil {
		t.Fatal(err)
	}
	if found := f.holds("amber"); len(found) > 0 {
		t.Errorf("after Drop the text is in %q", found)
	}
	if found := f.holds("violet"); len(found) != 1 {
		t.Errorf("the object of another prefix: %q", found)
	}
}

// A blob that the bucket does not let go of is no success.
func TestDropNoticesABucketThatDeletesNothing(t *testing.T) {
	f := newFake(t, func(f *fake) { f.locked = true })
	p := f.at(t, nil)
	if err := p.Put(t.Context(), "k", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := p.Drop(t.Context(), "k"); !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), "object lock") {
		t.Errorf("Drop: %v, want %v", err, store.ErrReadOnly)
	}
}

// What is wrong with a bucket is told apart, and never looks like a missing blob. No error has a key.
func TestErrors(t *testing.T) {
	refuse := func(status int, code string) func(*fake) {
		return func(f *fake) { f.refuse = func(*http.Request) (int, string) { return status, code } }
	}
	late := &http.Transport{DialContext: (&net.Dialer{Deadline: time.Unix(1, 0)}).DialContext} // each dial is too late
	for _, tt := range []struct {
		name string
		set  func(*fake)
		o    func(*s3.Options)
		stop bool
		want error
	}{
		{"keys that may not", refuse(http.StatusForbidden, "AccessDenied"), nil, false, store.ErrUnreadable},
		{"a key that is none", refuse(http.StatusUnauthorized, "InvalidAccessKeyId"), nil, false, store.ErrUnreadable},
		{"a server that is overloaded", refuse(http.StatusServiceUnavailable, "SlowDown"), nil, false, store.ErrUnreachable},
		{"a server that is full", refuse(http.StatusInsufficientStorage, "InsufficientStorage"), nil, false, store.ErrFull},
		{"a server that is broken", refuse(http.StatusInternalServerError, "Broken"), nil, false, store.ErrUnreachable},
		{"no such bucket", nil, func(o *s3.Options) { o.Bucket = "other" }, false, store.ErrUnreachable},
		{"no server", nil, nil, true, store.ErrUnreachable},
		{"a server that cannot be reached in time", nil, func(o *s3.Options) { o.Transport = late }, false, store.ErrUnreachable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, tt.set)
			p := f.at(t, tt.o)
			if tt.stop {
				f.Close()
			}
			_, got := p.Get(t.Context(), "k", 1)
			for method, err := range map[string]error{
				"Put": p.Put(t.Context(), "k", []byte("x")), "Get": got, "Drop": p.Drop(t.Context(), "k"), "Ready": p.Ready(t.Context()),
			} {
				if !errors.Is(err, tt.want) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v, want %v", method, err, tt.want)
				} else if strings.Contains(err.Error(), secretKey) || strings.Contains(err.Error(), accessKey) {
					t.Errorf("%s: the error has a key: %v", method, err)
				}
			}
		})
	}
}

// A request to an overloaded server is sent up to three times.
func TestAnOverloadedServerIsAskedAgain(t *testing.T) {
	refused := 0
	f := newFake(t, func(f *fake) {
		f.refuse = func(*http.Request) (int, string) {
			if refused++; refused%3 > 0 {
				return http.StatusServiceUnavailable, "SlowDown"
			}
			return 0, ""
		}
	})
	p := f.at(t, nil)
	if err := p.Put(t.Context(), "k", []byte("body")); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Get(t.Context(), "k", 4); err != nil || string(got) != "body" {
		t.Errorf("Get = %q, %v", got, err)
	}
}

// A large body is one request, so that nothing is left of one that was cut off.
func TestALargeBodyIsOneRequest(t *testing.T) {
	f := newFake(t, nil)
	if err := f.at(t, nil).Put(t.Context(), "scope/k", make([]byte, 40<<20)); err != nil {
		t.Fatal(err)
	}
	if len(f.sent) != 1 || f.sent[0] != "PUT carrel/scope/k" {
		t.Errorf("requests: %q", f.sent)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, set := range map[string]func(o *s3.Options){
		"no access key":              func(o *s3.Options) { o.AccessKey = "" },
		"no secret key":              func(o *s3.Options) { o.SecretKey = "" },
		"an endpoint without scheme": func(o *s3.Options) { o.Endpoint = "minio.example.org:9000" },
		"an endpoint that is none":   func(o *s3.Options) { o.Endpoint = "https://[::1" },
		"an endpoint of a file":      func(o *s3.Options) { o.Endpoint = "ftp://minio.example.org" },
		"an endpoint with a query":   func(o *s3.Options) { o.Endpoint = "https://minio.example.org?x=1" },
		"an endpoint with an anchor": func(o *s3.Options) { o.Endpoint = "https://minio.example.org#x" },
		"a prefix of 201 bytes":      func(o *s3.Options) { o.Prefix = strings.Repeat("p", 200) + "/" },
		"a bucket of 64 bytes":       func(o *s3.Options) { o.Bucket = strings.Repeat("b", 64) },
		"a bucket of two bytes":      func(o *s3.Options) { o.Bucket = "bb" },
		"a bucket with two points":   func(o *s3.Options) { o.Bucket = "b..b" },
		"an endpoint with a path":    func(o *s3.Options) { o.Endpoint = "https://minio.example.org/blobs" },
		"a prefix with a space":      func(o *s3.Options) { o.Prefix = "a b/" },
		"a prefix without a slash":   func(o *s3.Options) { o.Prefix = "carrel" },
		"a bucket with a slash":      func(o *s3.Options) { o.Bucket = "a/b" },
		"an endpoint with a user":    func(o *s3.Options) { o.Endpoint = "https://somebody@minio.example.org" },
	} {
		o := &s3.Options{Bucket: bucket, AccessKey: accessKey, SecretKey: secretKey}
		set(o)
		p, err := s3.New(o)
		if err == nil {
			t.Errorf("%s: %s was accepted", name, p)
			continue
		}
		if text := err.Error(); strings.Contains(text, secretKey) {
			t.Errorf("%s: the error has a key: %v", name, err)
		}
	}
}

func TestNewTakesTheLongestNames(t *testing.T) {
	o := &s3.Options{Bucket: strings.Repeat("b", 63), Prefix: strings.Repeat("p", 199) + "/", AccessKey: accessKey, SecretKey: secretKey}
	if _, err := s3.New(o); err != nil {
		t.Error(err)
	}
}

// What another has deleted meanwhile is dropped, a bucket elsewhere is told, and so is the end of a context.
func TestOtherAnswers(t *testing.T) {
	status, stop := http.StatusNotFound, func() {}
	f := newFake(t, func(f *fake) {
		f.refuse = func(r *http.Request) (int, string) {
			stop()
			if status == http.StatusNotFound && r.Method != http.MethodDelete {
				return 0, ""
			}
			return status, "Code"
		}
	})
	p := f.at(t, nil)
	if err := p.Drop(t.Context(), "k"); err != nil {
		t.Errorf("Drop: %v", err)
	}
	status = http.StatusMovedPermanently
	if _, err := p.Get(t.Context(), "k", 1); !errors.Is(err, store.ErrUnreachable) || !strings.Contains(err.Error(), "the bucket is elsewhere") {
		t.Errorf("Get from elsewhere: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	status, stop = http.StatusServiceUnavailable, cancel
	if _, err := p.Get(ctx, "k", 1); err == nil || errors.Is(err, store.ErrUnreachable) {
		t.Errorf("Get for who has gone: %v, want no trouble of the place", err)
	}
}

func TestAddress(t *testing.T) {
	p := newFake(t, nil).at(t, func(o *s3.Options) { o.Endpoint = "https://minio.example.org:9000" })
	if got, want := p.String(), "s3://blobs/carrel/?endpoint=https%3A%2F%2Fminio.example.org%3A9000"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
}
