//go:build !unix

package origin

// nonblock is for systems whose folders hold pipes.
const nonblock = 0
