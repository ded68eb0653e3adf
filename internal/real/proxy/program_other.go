//go:build !linux

package proxy

import "syscall"

// endingWithParent returns nil: only Linux supports it.
func endingWithParent() *syscall.SysProcAttr { return nil }
