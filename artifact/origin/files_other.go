//go:build !unix

package origin

// nonblock is 0 on systems where no folder can contain a pipe.
const nonblock = 0
