package attachdetach

import "time"

// detachView is what decides whether a volume that nobody wants is detached.
type detachView struct {
	waited       time.Duration // since the detach was first asked for
	mounted      bool          // the node says, or must be assumed, to use it
	healthy      bool
	outOfService bool
	neverByForce bool
}

// detachVerdict: verify means that the API server is asked once more whether the
// node uses the volume.
type detachVerdict struct{ detach, verify bool }

// decide: C-ADC-24..26. A volume that is mounted is detached only from a node
// that is tainted out of service, or unhealthy for longer than the limit. Once
// the time is over even a healthy node is no longer verified.
func (v detachView) decide() detachVerdict {
	expired := v.waited > maxWaitForUnmount && !v.neverByForce
	force := expired && !v.healthy
	if v.mounted && !force && !v.outOfService {
		return detachVerdict{}
	}
	return detachVerdict{detach: true, verify: !expired && !v.outOfService}
}
