package attachdetach

import "time"

// detachView holds the facts that decide whether an unwanted volume is detached.
type detachView struct {
	waited       time.Duration // time since the first request to detach
	mounted      bool          // the node reports the volume as in use, or is assumed to use it
	healthy      bool
	outOfService bool
	neverByForce bool
}

// detachVerdict is the decision about a detach. force is the reason to detach without asking the
// API server again whether the node uses the volume; it is empty without force.
type detachVerdict struct {
	detach bool
	force  string
}

// The reasons for a forced detach. C-ADC-29
const (
	byTimeout      = "timeout"
	byOutOfService = "out-of-service"
)

// decide implements C-ADC-24..26. A mounted volume is detached only from a node that is tainted as
// out of service, or that has been unhealthy for longer than the limit. After the limit, every
// detach is forced, even from a healthy node.
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
