// Package s3 is a [blob.Place] in a bucket of Amazon S3 or of a server that speaks its protocol. Each
// blob is an object whose name is its key, after a prefix.
//
// A blob is sent in one request, so that nothing is left of one that was cut off. S3 keeps an object
// durably before it answers, and a new object can be read at once.
//
// Drop deletes all versions of an object, where the bucket has versions, and then asks whether the
// object is gone. A server that lists no versions has none to delete. A bucket with object lock
// does not let objects be deleted: it is unfit for texts that can be purged.
//
// # Permissions
//
// The key needs s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket; for a bucket with
// versions also s3:ListBucketVersions and s3:DeleteObjectVersion. Without s3:ListBucket, S3 says of a
// missing object that reading it is forbidden.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
)

// DefaultRegion is the default of [Options].Region.
const DefaultRegion = "us-east-1"

// attempts is how often a request is sent until a server answers that is overloaded or down.
const attempts = 3

// Options configures a place. Bucket and the two keys are required.
type Options struct {
	Bucket string
	Prefix string // before each key, such as "carrel/"

	// Endpoint is the URL of the server, such as "https://minio.example.org:9000". The default is
	// that of Amazon S3.
	Endpoint string
	Region   string // the default is [DefaultRegion]

	AccessKey, SecretKey string
	Token                string // of temporary keys, or empty

	// Transport sends the requests. The default is that of the library.
	Transport http.RoundTripper
}

// A place is a bucket.
type place struct {
	client  *minio.Client
	o       Options
	address string
}

// New returns the place in a bucket. It sends no request.
func New(o *Options) (blob.Place, error) {
	p := &place{o: *o}
	p.o.Region = cmp.Or(o.Region, DefaultRegion)
	p.address = (&url.URL{Scheme: "s3", Host: o.Bucket, Path: "/" + o.Prefix}).String()
	if o.Endpoint != "" {
		p.address += "?endpoint=" + url.QueryEscape(o.Endpoint)
	}
	server, err := url.Parse(cmp.Or(o.Endpoint, "https://s3.amazonaws.com"))
	if err != nil || server.Host == "" || server.Scheme != "https" && server.Scheme != "http" || strings.Trim(server.Path, "/") != "" || server.User != nil || server.RawQuery != "" {
		return nil, errors.New("the endpoint of a bucket is a URL with a host and no more, such as https://minio.example.org:9000")
	}
	if o.AccessKey == "" || o.SecretKey == "" {
		return nil, fmt.Errorf("blobs in %s: there is no key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", p)
	}
	p.client, err = minio.New(server.Host, &minio.Options{
		Creds: credentials.NewStaticV4(o.AccessKey, o.SecretKey, o.Token), Secure: server.Scheme == "https",
		Region: p.o.Region, Transport: o.Transport, MaxRetries: attempts,
	})
	if err != nil {
		return nil, fmt.Errorf("blobs in %s: %w", p, err)
	}
	return p, nil
}

// String implements [blob.Place].
func (p *place) String() string { return p.address }

// A troubleError means that a bucket cannot be used. It says what to do, and matches an error of
// package store.
type troubleError struct {
	place string
	kind  error
	next  string
	cause error
}

func (e *troubleError) Error() string {
	return fmt.Sprintf("blobs in %s: %v: %s: %v", e.place, e.kind, e.next, e.cause)
}

// Unwrap returns the kind and the error of the server or the connection.
func (e *troubleError) Unwrap() []error { return []error{e.kind, e.cause} }

// explain turns an error of the server or of the connection into one of package store.
func (p *place) explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	t := &troubleError{place: p.address, cause: err}
	answer := minio.ErrorResponse{}
	switch {
	case !errors.As(err, &answer):
		t.kind, t.next = store.ErrUnreachable, "start the server, or correct the endpoint"
	case answer.Code == minio.NoSuchKey:
		return fmt.Errorf("blobs in %s: %w", p, fs.ErrNotExist)
	case answer.Code == minio.NoSuchBucket:
		t.kind, t.next = store.ErrUnreachable, "create the bucket, or correct its name"
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		t.kind, t.next = store.ErrUnreadable, "check the keys and their permissions"
	case answer.StatusCode == http.StatusInsufficientStorage:
		t.kind, t.next = store.ErrFull, "free some space on the server"
	default:
		t.kind, t.next = store.ErrUnreachable, "look into the log of the server"
	}
	return t
}

// name returns the name of an object.
func (p *place) name(ctx context.Context, key string) (string, error) {
	if err := errors.Join(ctx.Err(), blob.CheckKey(key)); err != nil {
		return "", err
	}
	return p.o.Prefix + key, nil
}

// Put implements [blob.Place].
func (p *place) Put(ctx context.Context, key string, body []byte) error {
	name, err := p.name(ctx, key)
	if err != nil {
		return err
	}
	_, err = p.client.PutObject(ctx, p.o.Bucket, name, bytes.NewReader(body), int64(len(body)), minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true,
	})
	return p.explain(err)
}

// Get implements [blob.Place].
func (p *place) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	name, err := p.name(ctx, key)
	if err != nil {
		return nil, err
	}
	object, err := p.client.GetObject(ctx, p.o.Bucket, name, minio.GetObjectOptions{})
	if err != nil {
		return nil, p.explain(err)
	}
	body, err := blob.ReadAtMost(object, most)
	_ = object.Close() // it was read
	if err != nil {
		return nil, p.explain(err)
	}
	return body, nil
}

// Drop implements [blob.Place].
func (p *place) Drop(ctx context.Context, key string) error {
	name, err := p.name(ctx, key)
	if err != nil {
		return err
	}
	versions, err := p.versions(ctx, name)
	if err != nil {
		return p.explain(err)
	}
	if len(versions) == 0 {
		versions = []string{""} // the object itself
	}
	for _, version := range versions {
		if err := p.client.RemoveObject(ctx, p.o.Bucket, name, minio.RemoveObjectOptions{VersionID: version}); err != nil && !missing(err) {
			return p.explain(err)
		}
	}
	_, err = p.client.StatObject(ctx, p.o.Bucket, name, minio.StatObjectOptions{})
	switch {
	case err == nil:
		return &troubleError{place: p.address, kind: store.ErrReadOnly, next: "look whether the bucket has object lock", cause: fmt.Errorf("%s is still there after it was deleted", key)}
	case missing(err):
		return nil
	}
	return p.explain(err)
}

// missing reports whether an error means that there is no such object.
func missing(err error) bool {
	answer := minio.ErrorResponse{}
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound && answer.Code != minio.NoSuchBucket
}

// versions returns the ids of the versions of an object, or none if the server lists no versions.
func (p *place) versions(ctx context.Context, name string) (ids []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for v := range p.client.ListObjectsIter(ctx, p.o.Bucket, minio.ListObjectsOptions{WithVersions: true, Recursive: true, Prefix: name}) {
		answer := minio.ErrorResponse{}
		switch {
		case errors.As(v.Err, &answer) && (answer.StatusCode == http.StatusNotImplemented || answer.StatusCode == http.StatusMethodNotAllowed):
			return nil, nil
		case v.Err != nil:
			return nil, v.Err
		case v.Key == name:
			ids = append(ids, v.VersionID)
		}
	}
	return ids, nil
}

// Ready implements [blob.Place]. It asks whether the bucket exists.
func (p *place) Ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	there, err := p.client.BucketExists(ctx, p.o.Bucket)
	if err == nil && !there {
		err = minio.ErrorResponse{Code: minio.NoSuchBucket, StatusCode: http.StatusNotFound, Message: "the bucket does not exist"}
	}
	return p.explain(err)
}
