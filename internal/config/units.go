package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Duration is a time span that prints in a readable form, such as "14d" or "36h".
type Duration time.Duration

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// ParseDuration parses a time span, such as "30s", "12h", "7d" or "2w". It refuses negative ones.
func ParseDuration(s string) (time.Duration, error) {
	bad := fmt.Errorf("%q is not a time span: give one such as 30s, 12h, 7d or 2w", s)
	if s == "" {
		return 0, bad
	}
	unit := map[byte]time.Duration{'d': day, 'w': week}[s[len(s)-1]]
	if unit == 0 {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return 0, bad
		}
		return d, nil
	}
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 32)
	if err != nil || n > uint64(math.MaxInt64/unit) {
		return 0, bad
	}
	return time.Duration(n) * unit, nil
}

// String returns the time span in days, hours or minutes, the largest of these units that divides
// it, and otherwise as [time.Duration] prints it.
func (d Duration) String() string {
	switch t := time.Duration(d); {
	case t == 0:
		return "0s"
	case t%day == 0:
		return fmt.Sprintf("%dd", t/day)
	case t%time.Hour == 0:
		return fmt.Sprintf("%dh", t/time.Hour)
	case t%time.Minute == 0:
		return fmt.Sprintf("%dm", t/time.Minute)
	default:
		return t.String()
	}
}

// MarshalText returns the time span as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// A Size is a number of bytes that prints in a readable form, such as "256MiB".
type Size int64

// units are the units of sizes: multiples of 1024 first. A unit comes after those whose names end
// with its name, as B does after MiB.
var units = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"KB", 1e3},
	{"B", 1},
}

// ParseSize parses a number of bytes, such as "256MiB", "10MB" or "4096".
func ParseSize(s string) (Size, error) {
	digits, factor := s, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			digits, factor = strings.TrimRight(rest, " "), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > uint64(math.MaxInt64/factor) {
		return 0, fmt.Errorf("%q is no size, such as 256MiB or 10MB", s)
	}
	return Size(int64(n) * factor), nil
}

// String returns the size in the largest unit of 1024 that divides it.
func (s Size) String() string {
	for _, u := range units[:3] {
		if s != 0 && int64(s)%u.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(s)/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%dB", int64(s))
}

// MarshalText returns the size as String does.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseTime parses a time: seconds since 1970, or RFC 3339, with or without the time of day.
func ParseTime(s string) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(n, 0).UTC(), nil
	}
	for _, layout := range [...]string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: give one such as 2026-01-31T12:00:00Z or 2026-01-31", s)
}

// errEmpty means that a list contains an empty text.
var errEmpty = errors.New("contains an empty text: remove it")
