package provisioner

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// state is the result of an attempt. C-PROV-20, C-PROV-60
type state string

const (
	// finished: the driver is not working on the volume.
	finished state = "finished"
	// inBackground: the driver may still be working on it, or may have finished.
	inBackground state = "in background"
	// noChange: the driver was not called, and the earlier state is still valid.
	noChange state = "no change"
	// reschedule: finished, and another node may succeed.
	reschedule state = "reschedule"
)

// result is the outcome of an attempt; err is nil after a success.
type result struct {
	state      state
	err        error
	infeasible bool
}

// resultOf classifies an error of CreateVolume. mayReschedule is true if the driver has topology
// and a node was selected. C-PROV-60
func resultOf(err error, mayReschedule bool) result {
	s, ok := status.FromError(err)
	if !ok {
		return result{state: inBackground, err: err}
	}
	r := result{state: finished, err: err}
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.Aborted:
		r.state = inBackground
	case codes.ResourceExhausted:
		if mayReschedule {
			r.state = reschedule
		}
	case codes.InvalidArgument: // C-PROV-15
		r.infeasible = true
	}
	return r
}
