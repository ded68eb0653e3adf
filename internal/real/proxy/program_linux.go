package proxy

import "syscall"

// endingWithParent makes the kernel kill a child when its parent dies.
func endingWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
