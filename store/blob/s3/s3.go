// Package s3 is a [blob.Keeper] in a bucket of Amazon S3 or of a server that speaks its protocol. Each
// blob is an object whose name is its key, after a prefix.
//
// It speaks the few words of the protocol that a place needs, over net/http: PUT, GET, HEAD and DELETE
// of an object, HEAD of a bucket, and the list of versions. Requests are signed with version 4 of
// Amazon's signatures, including the digest of the body, and name the bucket in the path.
//
// A blob is sent in one request, so that nothing is left of one that was cut off. S3 keeps an object
// durably before it answers, and a new object can be read at once. A request to a server that is
// overloaded or cannot be reached is sent up to three times.
//
// Drop deletes all versions of an object, where the bucket has versions, and then asks whether the
// object is gone. A server that lists no versions has none to delete. A bucket with object lock
// does not let objects be deleted: it is unfit for texts that can be purged.
//
// # Permissions
//
// The key needs s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket; where S3 is Amazon's
// or the bucket has versions also s3:ListBucketVersions and s3:DeleteObjectVersion. Without
// s3:ListBucket, S3 says of a missing object that reading it is forbidden, and Get fails with a
// store.ErrUnreadable.
package s3

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
)

// DefaultRegion is the default of [Options].Region.
const DefaultRegion = "us-east-1"

// Options configures a place. Bucket and the two keys are required.
type Options struct {
	Bucket string
	Prefix string // put before each key, such as "carrel/": a valid key followed by a slash

	// Endpoint is the URL of the server, such as "https://minio.example.org:9000". The default is
	// that of Amazon S3 in the region.
	Endpoint string
	Region   string // the default is [DefaultRegion]

	AccessKey, SecretKey string
	Token                string // session token that belongs to temporary keys, or empty

	// Transport sends the requests. The default is like [http.DefaultTransport].
	Transport http.RoundTripper
	Now       func() time.Time // the default is time.Now
}

// A place keeps blobs as objects in a bucket.
type place struct {
	client  *http.Client
	server  *url.URL
	o       Options
	address string
}

// New returns the place in a bucket. It fails if an option is missing or malformed. It sends no
// request.
func New(o *Options) (blob.Keeper, error) {
	p := &place{o: *o}
	p.o.Region = cmp.Or(o.Region, DefaultRegion)
	if p.o.Now == nil {
		p.o.Now = time.Now //nolint:forbidigo // this is the default clock
	}
	p.address = (&url.URL{Scheme: "s3", Host: o.Bucket, Path: "/" + o.Prefix}).String()
	if o.Endpoint != "" {
		p.address += "?endpoint=" + url.QueryEscape(o.Endpoint)
	}
	var err error
	p.server, err = url.Parse(cmp.Or(o.Endpoint, "https://s3."+p.o.Region+".amazonaws.com"))
	switch {
	case err != nil || !isServer(p.server):
		return nil, errors.New("the endpoint of a bucket is a URL with a host and no more, such as https://minio.example.org:9000")
	case !isBucket(o.Bucket):
		return nil, errors.New("the name of a bucket has 3 to 63 small letters, digits, points and hyphens")
	case o.Prefix != "" && (blob.CheckKey(strings.TrimSuffix(o.Prefix, "/")) != nil || len(o.Prefix) > 200 || !strings.HasSuffix(o.Prefix, "/")):
		return nil, errors.New("the prefix in a bucket has letters, digits, hyphens, low lines and slashes, and ends in a slash")
	case o.AccessKey == "" || o.SecretKey == "":
		return nil, fmt.Errorf("blobs in %s: there is no key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", p)
	}
	if p.o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = patience
		p.o.Transport = t
	}
	// A signature is for one host, so that no redirection is followed.
	p.client = &http.Client{Transport: p.o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return p, nil
}

// isServer reports whether a URL is only a scheme and a host.
func isServer(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") && strings.Trim(u.Path, "/") == "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// isBucket reports whether name is valid as the name of a bucket.
func isBucket(name string) bool {
	return bucketName.Get().MatchString(name) && !strings.Contains(name, "..")
}

var bucketName = lazy.Regexp(`^[a-z0-9.-]{3,63}$`)

// String implements [blob.Keeper].
func (p *place) String() string { return p.address }

// name returns the name of the object for a key. It fails if the key is invalid or ctx has ended.
func (p *place) name(ctx context.Context, key string) (string, error) {
	return p.o.Prefix + key, errors.Join(ctx.Err(), blob.CheckKey(key))
}

// Put implements [blob.Keeper].
func (p *place) Put(ctx context.Context, key string, body []byte) error {
	name, err := p.name(ctx, key)
	if err == nil {
		_, err = p.send(ctx, http.MethodPut, name, nil, body, 0)
		err = p.explain(ctx, err)
	}
	return err
}

// Get implements [blob.Keeper].
func (p *place) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	name, err := p.name(ctx, key)
	if err != nil {
		return nil, err
	}
	body, err := p.send(ctx, http.MethodGet, name, nil, nil, most)
	return body, p.explain(ctx, err)
}

// rounds is the largest number of times that Drop lists the versions of an object and deletes them.
// A server lists up to a thousand at once.
const rounds = 100

// Drop implements [blob.Keeper].
func (p *place) Drop(ctx context.Context, key string) error {
	name, err := p.name(ctx, key)
	if err != nil {
		return err
	}
	ids, before := []string{""}, []string(nil) // the object itself, if the server lists no versions
	for range rounds {
		listed, err := p.versions(ctx, name)
		if err != nil {
			return p.explain(ctx, err)
		}
		if len(listed) > 0 {
			ids = listed
		}
		if before != nil && len(listed) == 0 || slices.Equal(ids, before) {
			break // all is deleted, or nothing can be
		}
		for _, id := range ids {
			if err := p.remove(ctx, name, id); err != nil {
				return p.explain(ctx, err)
			}
		}
		before = ids
	}
	_, err = p.send(ctx, http.MethodHead, name, nil, nil, 0)
	switch {
	case isAnswer(err, http.StatusNotFound):
		return nil
	case err != nil:
		return p.explain(ctx, err)
	}
	return &blob.TroubleError{
		Place: p.address, Kind: store.ErrReadOnly, Next: "look whether the bucket has object lock",
		Cause: fmt.Errorf("%s is still there after it was deleted", key),
	}
}

// remove deletes the version of an object with the given id. If id is empty, it deletes the object.
func (p *place) remove(ctx context.Context, name, id string) error {
	query := url.Values{}
	if id != "" {
		query.Set("versionId", id)
	}
	_, err := p.send(ctx, http.MethodDelete, name, query, nil, 0)
	if isAnswer(err, http.StatusNotFound) {
		err = nil
	}
	return err
}

// versions returns the ids of versions of an object, or none if the server lists no versions.
func (p *place) versions(ctx context.Context, name string) (ids []string, err error) {
	data, err := p.send(ctx, http.MethodGet, "", url.Values{"versions": {""}, "prefix": {name}}, nil, largestAnswer)
	if isAnswer(err, http.StatusNotImplemented, http.StatusMethodNotAllowed) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	type version struct {
		Key string
		ID  string `xml:"VersionId"`
	}
	var page struct {
		Version, DeleteMarker []version
	}
	if err := xml.Unmarshal(data, &page); err != nil {
		return nil, fmt.Errorf("the list of versions: %w", err)
	}
	for _, v := range append(page.Version, page.DeleteMarker...) {
		if v.Key == name {
			ids = append(ids, v.ID)
		}
	}
	return ids, nil
}

// Ready implements [blob.Keeper]. It asks whether the bucket exists.
func (p *place) Ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := p.send(ctx, http.MethodHead, "", nil, nil, 0)
	if isAnswer(err, http.StatusNotFound) {
		err = &answerError{Status: http.StatusNotFound, Code: "NoSuchBucket"} // HEAD gets no code
	}
	return p.explain(ctx, err)
}
