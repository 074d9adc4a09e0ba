package s3_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/store/blob"
	"github.com/carrel-dev/carrel/store/blob/blobtest"
	"github.com/carrel-dev/carrel/store/blob/s3"
)

// serverProgram is a variable that names a server of S3 that others wrote: the program of
// "go install github.com/versity/versitygw/cmd/versitygw@v1.8.0".
const serverProgram = "CARREL_TEST_S3"

// A server of others, which checks every signature, is a place like any other, with versions and
// without.
func TestPlaceOnAServerOfOthers(t *testing.T) {
	program := os.Getenv(serverProgram)
	if program == "" {
		t.Skipf("%s is not set: nothing to test with", serverProgram)
	}
	for _, versions := range []bool{false, true} {
		t.Run(fmt.Sprintf("versions %t", versions), func(t *testing.T) {
			endpoint := serveS3(t, program, versions)
			var last atomic.Int64
			blobtest.Run(t, func(t *testing.T) func() blob.Keeper {
				o := &s3.Options{
					Bucket: bucket, Prefix: fmt.Sprintf("place-%d/", last.Add(1)), Endpoint: endpoint,
					Region: region, AccessKey: accessKey, SecretKey: secretKey,
				}
				return func() blob.Keeper {
					p, err := s3.New(o)
					if err != nil {
						t.Fatal(err)
					}
					return p
				}
			})
		})
	}
}

// serveS3 starts the program with a bucket in a new directory, and returns its URL once it takes
// connections.
func serveS3(t *testing.T, program string, versions bool) (endpoint string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{filepath.Join("root", bucket), "versions"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close() // the program takes the port
	args := []string{"--port", at, "--access", accessKey, "--secret", secretKey, "--region", region, "--quiet", "posix"}
	if versions {
		args = append(args, "--versioning-dir", filepath.Join(dir, "versions"))
	}
	cmd := exec.CommandContext(t.Context(), program, append(args, filepath.Join(dir, "root"))...)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // killed, since the test's context ends before
	for range 600 {
		conn, err := net.Dial("tcp", at)
		if err == nil {
			_ = conn.Close() // nothing was written
			return "http://" + at
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s takes no connections at %s", program, at)
	return ""
}
