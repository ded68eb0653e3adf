package attachdetach

import "time"

// detachView holds the facts that decide whether an unwanted volume is detached.
type detachView struct {
	waited       time.Duration // since the detach was first asked for
	mounted      bool          // the node reports that it uses it, or is assumed to
	healthy      bool
	outOfService bool
	neverByForce bool
}

// detachVerdict is the decision about a detach. force is the reason to detach without a last
// request to the API server whether the node uses the volume; empty without force.
type detachVerdict struct {
	detach bool
	force  string
}

// Why a detach is by force. C-ADC-29
const (
	byTimeout      = "timeout"
	byOutOfService = "out-of-service"
)

// decide: C-ADC-24..26. A volume that is mounted is detached only from a node
// that is tainted out of service, or unhealthy for longer than the limit. Once
// the time is over even a healthy node is no longer asked.
func (v detachView) decide() detachVerdict {
	expired := v.waited > maxWaitForUnmount && !v.neverByForce
	switch {
	case v.mounted && !v.outOfService && (v.healthy || !expired):
		return detachVerdict{}
	case expired:
		return detachVerdict{detach: true, force: byTimeout}
	case v.outOfService:
		return detachVerdict{detach: true, force: byOutOfService}
	default:
		return detachVerdict{detach: true}
	}
}
