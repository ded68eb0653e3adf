package expect

import "github.com/csisim/csisim/internal/world/trace"

// Mounts expects that drivers unmount only their own mounts.
type Mounts struct{}

// String says it in words.
func (Mounts) String() string {
	return "no driver unmounts what another one or the kubelet has mounted, nor what it was not asked to"
}

// Failure is a mount that one did.
func (m Mounts) Failure(ev *Evidence) *Failure {
	return ev.never(m.String(), ev.Unmounted(), trace.Unmounted)
}
