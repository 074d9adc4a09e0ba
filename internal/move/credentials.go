package move

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
)

// keys says which credentials a copy lacks.
type keys struct {
	sum     digest.Digest // of the credentials of the source
	missing []store.Credential
	revoked []store.Credential // revoked since they were copied
}

// ofCredentials returns the digest of credentials.
func ofCredentials(all ...store.Credential) digest.Digest {
	f := &fingerprint{hash: sha256.New()}
	for i := range all {
		c := &all[i]
		f.text(c.ID, string(c.Hash), string(c.Actor), c.Note)
		f.number(int64(len(c.Scopes)), int64(len(c.Permissions)))
		for _, s := range c.Scopes {
			f.text(string(s))
		}
		for _, p := range c.Permissions {
			f.text(string(p))
		}
		f.time(c.Created, c.Expires, c.Revoked)
	}
	return digest.Digest(f.hash.Sum(nil))
}

// compareCredentials compares the credentials of the source with those of the target.
func (m *mover) compareCredentials(ctx context.Context) (*keys, error) {
	all, err := m.from.Credentials(ctx)
	if err != nil {
		return nil, source(err)
	}
	there, err := m.to.Credentials(ctx)
	if err != nil {
		return nil, err
	}
	m.res.Has.Credentials, m.res.Present.Credentials = len(all), len(there)
	copied := make(map[string]store.Credential, len(there))
	for _, c := range there {
		copied[c.ID] = c
	}
	k := &keys{sum: ofCredentials(all...)}
	for _, c := range all {
		old, ok := copied[c.ID]
		delete(copied, c.ID)
		before := c
		before.Hash, before.Revoked = old.Hash, time.Time{}
		switch {
		case !ok:
			k.missing = append(k.missing, c)
		case ofCredentials(c).Equal(ofCredentials(old)):
		case !c.Revoked.IsZero() && ofCredentials(before).Equal(ofCredentials(old)):
			k.revoked = append(k.revoked, c)
		default:
			return nil, &OtherError{What: fmt.Sprintf("credential %s is another", c.ID)}
		}
	}
	for id := range copied {
		return nil, &OtherError{What: fmt.Sprintf("credential %s is not in the source", id)}
	}
	return k, nil
}

func (m *mover) copyCredentials(ctx context.Context, k *keys) error {
	for i := range k.missing {
		if err := m.to.AddCredential(ctx, &k.missing[i]); err != nil {
			return err
		}
	}
	for i := range k.revoked {
		if err := m.to.RevokeCredential(ctx, k.revoked[i].ID, k.revoked[i].Revoked); err != nil {
			return err
		}
	}
	return nil
}

// countRequests counts the requests of the source, and those that the target cannot take.
func (m *mover) countRequests(ctx context.Context, plans []*plan) error {
	from, ok := m.from.(store.Requests)
	if !ok {
		return nil
	}
	for _, p := range plans {
		all, err := from.AllRequests(ctx, p.scope)
		if err != nil {
			return source(err)
		}
		m.res.Requests += len(all)
	}
	if _, ok := m.to.(store.Requests); !ok {
		m.res.LeftBehind = m.res.Requests
	}
	return nil
}

// copyRequests copies the requests of a scope, the oldest first, because the store forgets those
// that are old when it takes a new one.
func (m *mover) copyRequests(ctx context.Context, p *plan) error {
	from, ok := m.from.(store.Requests)
	to, takes := m.to.(store.Requests)
	if !ok || !takes {
		return nil
	}
	all, err := from.AllRequests(ctx, p.scope)
	if err != nil {
		return source(err)
	}
	for i := range all {
		if err := to.SettleRequest(ctx, &all[i]); err != nil {
			return err
		}
	}
	return nil
}
