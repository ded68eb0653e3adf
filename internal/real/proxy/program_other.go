//go:build !linux

package proxy

import "syscall"

// endingWithParent is nothing: only Linux can do it.
func endingWithParent() *syscall.SysProcAttr { return nil }
