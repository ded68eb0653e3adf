package proxy

import "syscall"

// endingWithParent has a child killed when its parent dies.
func endingWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
