//go:build unix

package main

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// peak returns the largest memory use of a process, in bytes.
func peak(p *os.ProcessState) (float64, error) {
	used, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, errors.New("this system does not report the peak memory of a process: run on Linux or macOS, or leave these goals out with -only")
	}
	if runtime.GOOS == "darwin" {
		return float64(used.Maxrss), nil // elsewhere it is in kibibytes
	}
	return float64(used.Maxrss) * 1024, nil
}
