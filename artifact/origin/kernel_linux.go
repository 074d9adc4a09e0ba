package origin

import (
	"os"
	"syscall"
)

// ofKernel reports whether a file is in a virtual file system of the kernel, such as /proc,
// whose regular files hold environments, keys and switches.
func ofKernel(f *os.File) bool {
	c, err := f.SyscallConn()
	if err != nil {
		return true
	}
	var st syscall.Statfs_t
	errc := c.Control(func(fd uintptr) { err = syscall.Fstatfs(int(fd), &st) })
	if errc != nil || err != nil {
		return true
	}
	return madeUp(uint32(st.Type))
}

// madeUp reports whether a file system type is virtual. The numbers
// are those of magic.h.
func madeUp(magic uint32) bool {
	switch magic {
	case 0x9fa0, // proc
		0x62656572, // sysfs
		0x64626720, // debugfs
		0x74726163, // tracefs
		0x73636673: // securityfs
		return true
	}
	return false
}
