package admin

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
)

// LowestClaude is the oldest supported release of Claude Code. It is the newest release that npm
// installs on Node 20. The end-to-end tests run on it.
const LowestClaude = "2.1.197"

// claudeVersion returns the version of the Claude Code on the PATH, such as 2.1.330.
func claudeVersion(ctx context.Context) (string, error) {
	program, err := exec.LookPath("claude")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", program, err)
	}
	version := regexp.MustCompile(`^\d+\.\d+\.\d+`).FindString(string(out))
	if version == "" {
		return "", fmt.Errorf("%s --version prints no version", program)
	}
	return version, nil
}

// olderClaude reports whether a version is below LowestClaude.
func olderClaude(version string) bool {
	return slices.Compare(versionNumbers(version), versionNumbers(LowestClaude)) < 0
}

// versionNumbers returns the numbers of a version.
func versionNumbers(version string) []int {
	var numbers []int
	for _, digits := range regexp.MustCompile(`\d+`).FindAllString(version, 3) {
		n, err := strconv.Atoi(digits)
		if err != nil {
			n = int(^uint(0) >> 1) // more digits than fit an int
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// newEnough returns an error if the Claude Code on the PATH is older than LowestClaude. If its
// version is unknown, newEnough returns nil, because another one may be installed elsewhere.
func newEnough(ctx context.Context, j *job.Job) error {
	version, err := claudeVersion(ctx)
	if err != nil {
		j.Note("the version of Claude Code is not known (%v): Carrel needs %s or newer", err, LowestClaude)
		return nil
	}
	if olderClaude(version) {
		return fmt.Errorf("%w: Claude Code is %s, and Carrel needs %s or newer: update it with claude update, then run setup again",
			carrel.ErrPolicy, version, LowestClaude)
	}
	return nil
}

// client checks the version of the Claude Code on the PATH.
func (d *doctor) client(ctx context.Context) doctorCheck {
	version, err := claudeVersion(ctx)
	switch {
	case err != nil:
		return doctorCheck{"client", stateWarn, "the version of Claude Code is not known: " + err.Error(), "Carrel needs " + LowestClaude + " or newer"}
	case olderClaude(version):
		return doctorCheck{"client", stateFail, fmt.Sprintf("Claude Code %s is too old: Carrel needs %s or newer", version, LowestClaude), "claude update brings a newer one"}
	}
	return doctorCheck{Name: "client", State: stateOK, Detail: "Claude Code " + version}
}
