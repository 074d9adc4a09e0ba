//go:build !unix

package main

import (
	"errors"
	"os"
)

func peak(*os.ProcessState) (float64, error) {
	return 0, errors.New("this system does not report the peak memory of a process: run on Linux or macOS, or leave these goals out with -only")
}
