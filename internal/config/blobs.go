package config

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
	"github.com/carrel-dev/carrel/store/blob/file"
	"github.com/carrel-dev/carrel/store/blob/s3"
	"github.com/carrel-dev/carrel/store/offload"
)

// blobsURL is the setting for the place of blobs.
const blobsURL = "blobs.url"

// blobKeys are the settings for large bodies that are stored outside of the store. A project's file
// must not set them, because the bodies contain texts of the user.
func blobKeys() []key {
	return []key{
		{name: blobsURL, variable: "CARREL_BLOBS", read: readBlobs, builtIn: "", own: true},
		{name: "blobs.min", read: readSize(1), builtIn: Size(offload.DefaultLeast), own: true},
		{name: "blobs.access_key", variable: "AWS_ACCESS_KEY_ID", read: readSecret, otherwise: "none", secret: true},
		{name: "blobs.secret_key", variable: "AWS_SECRET_ACCESS_KEY", read: readSecret, otherwise: "none", secret: true},
		{name: "blobs.token", variable: "AWS_SESSION_TOKEN", read: readSecret, otherwise: "none", secret: true},
	}
}

// readBlobs parses the place of blobs, a directory or a bucket. It refuses an address that contains
// a key, because settings are printed.
func readBlobs(l literal) (any, error) {
	if text, err := readMaybe(l); err != nil || l.text == "" {
		return text, err
	}
	u, err := url.Parse(l.text)
	switch {
	case err != nil, u.Scheme == "file" && (u.Host != "" || u.Path == "" || u.RawQuery != ""), u.Scheme == "s3" && u.Host == "", u.Scheme != "file" && u.Scheme != "s3":
		return nil, errors.New("wants file:///directory, or s3://bucket/prefix?endpoint=https://host&region=name")
	case u.User != nil:
		return nil, errors.New("has a user or a key in it: settings are printed, so remove it, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	for name := range u.Query() {
		if name != "endpoint" && name != "region" {
			return nil, errors.New("has a parameter that is neither endpoint nor region: keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
		}
	}
	_, err = placeAt(u, &s3.Options{AccessKey: "-", SecretKey: "-"})
	return l.text, err
}

// placeAt returns the place of blobs at an address. If that is a bucket, it is opened with the
// access key and the secret key in the argument keys.
func placeAt(u *url.URL, keys *s3.Options) (blob.Keeper, error) {
	if u.Scheme == "file" {
		dir := filepath.FromSlash(u.Path)
		if volume := strings.TrimPrefix(dir, string(filepath.Separator)); filepath.VolumeName(volume) != "" {
			dir = volume
		}
		return file.New(dir)
	}
	o := *keys
	o.Bucket, o.Prefix = u.Host, strings.TrimPrefix(u.Path, "/")
	if o.Prefix != "" && !strings.HasSuffix(o.Prefix, "/") {
		o.Prefix += "/"
	}
	o.Endpoint, o.Region = u.Query().Get("endpoint"), u.Query().Get("region")
	return s3.New(&o)
}

// blobs returns the place of blobs, or nil if none is set.
func (s *Settings) blobs() (blob.Keeper, error) {
	at := get[string](s, blobsURL)
	if at == "" {
		return nil, nil
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, &Error{blobsURL, err}
	}
	if u.Scheme != "file" && s.Offline() {
		return nil, &Error{blobsURL, errors.New("is on a server, and --offline, CARREL_OFFLINE or the settings forbid to connect: name a directory")}
	}
	secret := func(name string) string { return get[llm.Secret](s, name).Reveal() }
	p, err := placeAt(u, &s3.Options{AccessKey: secret("blobs.access_key"), SecretKey: secret("blobs.secret_key"), Token: secret("blobs.token")})
	if err != nil {
		return nil, &Error{blobsURL, err}
	}
	return p, nil
}

// withBlobs returns a store that keeps large bodies where the settings say.
func (s *Settings) withBlobs(db store.Database) (store.Database, error) {
	place, err := s.blobs()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return offload.New(db.(offload.Wrapped), &offload.Options{Place: place, Least: int(get[Size](s, "blobs.min"))}), nil
}
