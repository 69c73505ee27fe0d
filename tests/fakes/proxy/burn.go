package main

import (
	"runtime"
	"syscall"
	"time"
)

// burn uses a CPU for the given CPU time.
func burn(cpu time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for until := used() + cpu; used() < until; {
	}
}

// used is the CPU time of this thread so far.
func used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
