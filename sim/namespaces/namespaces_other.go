//go:build !linux

package namespaces

import "context"

// Again fails with ErrNotPermitted.
func Again(context.Context) (code int, err error) { return 0, ErrNotPermitted }

// Rootless reports whether this process is root in a user namespace only.
func Rootless() bool { return false }

// Advice is what a user can do who may not make namespaces.
func Advice() string {
	return "namespaces exist on Linux only: run it in a Linux container or virtual machine"
}

func settle() error { return nil }
