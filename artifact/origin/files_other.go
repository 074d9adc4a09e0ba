//go:build !unix

package origin

// nonblock is 0 on systems without pipes in folders.
const nonblock = 0
