package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// algorithm is the name of the algorithm that signs requests, which is version 4 of Amazon's
// signatures.
const algorithm = "AWS4-HMAC-SHA256"

// sign signs a request. The text in sum is the digest of the body in hexadecimal. The signature
// covers the host and all headers of the request.
func (o *Options) sign(r *http.Request, sum string, now time.Time) {
	at := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", at)
	r.Header.Set("X-Amz-Content-Sha256", sum)
	if o.Token != "" {
		r.Header.Set("X-Amz-Security-Token", o.Token)
	}
	headers := map[string]string{"host": r.URL.Host}
	names := []string{"host"}
	for name, values := range r.Header {
		name = strings.ToLower(name)
		names, headers[name] = append(names, name), strings.Join(values, ",")
	}
	slices.Sort(names)
	var lines strings.Builder
	for _, name := range names {
		lines.WriteString(name + ":" + headers[name] + "\n")
	}
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	request := strings.Join([]string{r.Method, r.URL.EscapedPath(), query, lines.String(), strings.Join(names, ";"), sum}, "\n")

	scope := []string{at[:8], o.Region, "s3", "aws4_request"}
	key := []byte("AWS4" + o.SecretKey)
	for _, part := range scope {
		key = mac(key, part)
	}
	in := strings.Join(scope, "/")
	signature := hex.EncodeToString(mac(key, strings.Join([]string{algorithm, at, in, digestOf([]byte(request))}, "\n")))
	r.Header.Set("Authorization", algorithm+" Credential="+o.AccessKey+"/"+in+",SignedHeaders="+strings.Join(names, ";")+",Signature="+signature)
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, text)
	return h.Sum(nil)
}

// digestOf returns the SHA-256 of data in hexadecimal.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
