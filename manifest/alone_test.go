package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gowebpki/jcs"
)

// verifyAlone is a verifier of the seal made from doc/spec/manifest.md, with
// encoding/json and another canonicalizer, and with nothing of this package.
func verifyAlone(data []byte) error {
	var doc struct {
		Schema string          `json:"schema"`
		Header json.RawMessage `json:"header"`
		Items  []struct {
			Salt   string          `json:"salt"`
			Item   json.RawMessage `json:"item"`
			Digest string          `json:"digest"`
		} `json:"items"`
		Seal string `json:"seal"`
	}
	canonical, err := jcs.Transform(data)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(canonical, data):
		return errors.New("not canonical")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return err
	}
	if doc.Schema != "carrel.manifest.v1" {
		return errors.New("another schema")
	}
	header, err := jcs.Transform(doc.Header)
	if err != nil {
		return err
	}
	headerDigest := sha256.Sum256(header)
	message := append([]byte("carrel.manifest.v1"), headerDigest[:]...)
	message = binary.BigEndian.AppendUint64(message, uint64(len(doc.Items)))
	for i, it := range doc.Items {
		if it.Digest != "" {
			sum, err := hex.DecodeString(it.Digest)
			if err != nil || len(sum) != 32 || it.Item != nil || it.Salt != "" {
				return fmt.Errorf("item %d: bad digest", i)
			}
			message = append(message, sum...)
			continue
		}
		salt, err := hex.DecodeString(it.Salt)
		if err != nil || len(salt) != 32 {
			return fmt.Errorf("item %d: bad salt", i)
		}
		item, err := jcs.Transform(it.Item)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(append(append([]byte("carrel.manifest.item.v1"), salt...), item...))
		message = append(message, sum[:]...)
	}
	seal := sha256.Sum256(message)
	if got := hex.EncodeToString(seal[:]); got != doc.Seal {
		return fmt.Errorf("seal is %s, want %s", doc.Seal, got)
	}
	return nil
}
