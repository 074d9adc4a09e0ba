package config

import (
	"fmt"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/server/hook"
	"github.com/carrel-dev/carrel/token"
)

// Each reader accepts the values at its bounds, and refuses those beyond them. A nil stands for a
// refused value.
func TestReadersAtTheirBounds(t *testing.T) {
	const (
		i = unstable.Integer
		f = unstable.Float
		s = unstable.String
		b = unstable.Bool
		a = unstable.Array
	)
	for _, tt := range []struct {
		name string
		read func(literal) (any, error)
		kind unstable.Kind
		text string
		want any
	}{
		{"tokens", readTokens, i, "0", nil},
		{"tokens", readTokens, i, "1", token.Count(1)},
		{"tokens", readTokens, i, "200_000", token.Count(200_000)},
		{"tokens", readTokens, i, "1000000000001", nil},
		{"tokens", readTokens, i, "-1", nil},
		{"tokens", readTokens, f, "1", nil},
		{"tokens", readTokens, s, "1", nil},
		{"effective", readEffective, s, "00160_000", token.Count(160_000)},
		{"effective", readEffective, s, "160k", nil},
		{"effective", readEffective, i, "5", token.Count(5)},
		{"effective", readEffective, f, "5.0", nil},
		{"target", readTarget, i, "1", token.Count(1)},
		{"target", readTarget, i, "0", nil},
		{"target", readTarget, f, "1.0", ratio.One},
		{"target", readTarget, f, "0.0", nil},
		{"target", readTarget, f, "0.000001", ratio.Ratio(1)},
		{"target", readTarget, f, "1.1", nil},
		{"target", readTarget, s, "50%", ratio.One / 2},
		{"target", readTarget, s, "0%", nil},
		{"target", readTarget, s, "0.5", nil},
		{"target", readTarget, s, "101%", nil},
		{"last", readLast, i, "0", 0},
		{"last", readLast, i, "7", 7},
		{"last", readLast, i, "-1", nil},
		{"ratio", readRatio, f, "0.0", ratio.Ratio(0)},
		{"ratio", readRatio, i, "1", ratio.One},
		{"ratio", readRatio, f, "1.000001", nil},
		{"ratio", readRatio, f, "-0.1", nil},
		{"ratio", readRatio, s, "0.5", nil},
		{"confidence", readConfidence, f, "0.0", nil},
		{"confidence", readConfidence, f, "0.000001", ratio.Ratio(1)},
		{"confidence", readConfidence, i, "1", ratio.One},
		{"edge", readEdge, f, "0.01", ratio.One / 100},
		{"edge", readEdge, f, "0.0", nil},
		{"edge", readEdge, f, "-0.01", nil},
		{"edge", readEdge, f, "0.805", nil},
		{"edge", readEdge, f, "1.10", ratio.One + ratio.One/10},
		{"edge", readEdge, i, "1000", 1000 * ratio.One},
		{"edge", readEdge, i, "1001", nil},
		{"edge", readEdge, s, "0.8", nil},
		{"count", readCount, i, "1", 1},
		{"count", readCount, i, "0", nil},
		{"count", readCount, i, "1000000000", 1_000_000_000},
		{"count", readCount, i, "1000000001", nil},
		{"retries", readRetries, i, "0", 0},
		{"retries", readRetries, i, "10", 10},
		{"retries", readRetries, i, "11", nil},
		{"retries", readRetries, i, "-1", nil},
		{"retries", readRetries, s, "1", nil},
		{"ceiling", readCeiling, i, "0", token.Count(0)},
		{"ceiling", readCeiling, i, "-1", nil},
		{"duration", readDuration, s, "1ms", Duration(time.Millisecond)},
		{"duration", readDuration, s, "999us", nil},
		{"duration", readDuration, s, "2w", Duration(14 * 24 * time.Hour)},
		{"duration", readDuration, i, "5", nil},
		{"size", readSize(10), i, "10", Size(10)},
		{"size", readSize(10), i, "9", nil},
		{"size", readSize(10), s, "10B", Size(10)},
		{"size", readSize(10), s, "9B", nil},
		{"size", readSize(10), s, "1KiB", Size(1024)},
		{"size", readSize(10), f, "10.0", nil},
		{"switch", readSwitch, b, "true", true},
		{"switch", readSwitch, s, "0", false},
		{"switch", readSwitch, i, "1", nil},
		{"switch", readSwitch, s, "yes", nil},
		{"URL", readURL, s, "", ""},
		{"URL", readURL, s, "http://localhost:1", "http://localhost:1"},
		{"URL", readURL, s, "https://host/v1", "https://host/v1"},
		{"URL", readURL, s, "ftp://host", nil},
		{"URL", readURL, s, "http://", nil},
		{"URL", readURL, s, "http:host", nil},
		{"URL", readURL, s, "http://host\x7f", nil},
		{"URL", readURL, s, "http://user:" + "password@host", nil},
		{"URL", readURL, i, "1", nil},
		{"one of", oneOf("a", "b"), s, "b", "b"},
		{"one of", oneOf("a", "b"), s, "c", nil},
		{"one of", oneOf("1"), i, "1", nil},
		{"tokens", readTokens, i, "1000000000000", token.Count(1_000_000_000_000)},
		{"tokens from 5", readTokensFrom(5), i, "5", token.Count(5)},
		{"tokens from 5", readTokensFrom(5), i, "4", nil},
		{"memory", readMemory, i, "0", token.Count(0)},
		{"memory", readMemory, i, "400", hook.LeastMemory},
		{"memory", readMemory, i, "399", nil},
		{"memory", readMemory, s, "400", nil},
		{"holdout", readHoldout, f, "0.1", ratio.One / 10},
		{"holdout", readHoldout, i, "1", ratio.One},
		{"holdout", readHoldout, s, "10%", ratio.One / 10},
		{"holdout", readHoldout, s, "0.1", nil},
		{"holdout", readHoldout, f, "1.1", nil},
		{"holdout", readHoldout, s, "101%", nil},
		{"base", readBase, s, "", nil},
		{"base", readBase, s, "https://host/v1?a=b", nil},
		{"base", readBase, s, "https://host/v1#a", nil},
		{"bound", readBound, i, "0", 0},
		{"bound", readBound, i, "1000000000", 1_000_000_000},
		{"bound", readBound, i, "1000000001", nil},
		{"bound", readBound, i, "-1", nil},
		{"address", readAddress, s, ":0", ":0"},
		{"address", readAddress, s, "host:65535", "host:65535"},
		{"address", readAddress, s, "host:65536", nil},
		{"address", readAddress, s, "host", nil},
		{"address", readAddress, i, "host:1", nil},
		{"command", readCommand, s, "x", nil},
		{"command", readCommand, a, "", nil},
	} {
		got, err := tt.read(literal{kind: tt.kind, text: tt.text})
		if (err == nil) != (tt.want != nil) || err == nil && fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", tt.want, tt.want) {
			t.Errorf("%s of %v %q: %T %v, %v, want %T %v", tt.name, tt.kind, tt.text, got, got, err, tt.want, tt.want)
		}
	}
}
