package expect

import "github.com/csisim/csisim/internal/world/trace"

// Mounts expects that drivers unmount only their own mounts.
type Mounts struct{}

// String returns the expectation in words.
func (Mounts) String() string {
	return "no driver unmounts mounts of another driver or of the kubelet, nor any outside its calls"
}

// Failure reports an unmount that no driver should have made.
func (m Mounts) Failure(ev *Evidence) *Failure {
	return ev.never(m.String(), ev.Unmounted(), trace.Unmounted)
}
