package proxy

import "syscall"

// endingWithParent makes the kernel kill a child when its parent exits.
func endingWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
