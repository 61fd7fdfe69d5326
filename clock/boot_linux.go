package clock

import (
	"syscall"
	"time"
	"unsafe"
)

// clockBoottime is CLOCK_BOOTTIME of clock_gettime(2), in Linux since 2.6.39.
const clockBoottime = 7

// bootTime is the time since the machine was started, suspend included. ok is
// false if the kernel, or a filter in front of it, refuses to say.
func bootTime() (boot time.Duration, ok bool) {
	var now syscall.Timespec
	// The call returns at once, so the scheduler need not hear of it.
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&now)), 0)
	return time.Duration(now.Nano()), errno == 0
}
