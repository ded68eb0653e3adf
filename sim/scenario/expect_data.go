package scenario

import "github.com/csisim/csisim/sim/trace"

// dataFailure says that a pod did not find in its volume what was written there.
func dataFailure(r *runner) *Failure {
	nothing := &Allowed{}
	f := nothing.failure("data lost", "each pod finds in its volumes what was written there", r.cluster.LostData())
	if f != nil {
		f.about = r.first(trace.DataLost)
	}
	return f
}
