//go:build !linux

package namespaces

import "context"

// Again fails with ErrNotPermitted.
func Again(context.Context, Options) (code int, err error) { return 0, ErrNotPermitted }

// Rootless reports whether this process is root in a user namespace only.
func Rootless() bool { return false }

// Limits returns why this process is root in a user namespace only.
func Limits() string { return "" }

// Refused returns that this is not Linux.
func Refused() *Refusal {
	return &Refusal{Cause: "only Linux has them", Remedy: "run in a Linux container or virtual machine"}
}

func settle() error { return nil }

func arrived() {}
