package runtime

import "k8s.io/apimachinery/pkg/types"

// Together is the past of containers that start and end together. The runtime lists containers that
// ended before a reboot, so their number of restarts continues.
// [pkg/kubelet/kuberuntime/kuberuntime_container.go: startContainer]
type Together struct {
	Restarts int32
	Before   *Instance // the end of the instances before the current ones; nil if there were none
}

// PastOf returns the past of a pod's containers. An init container that completes has another past
// than the containers that run.
func (r *Runtime) PastOf(pod types.UID, completes bool) Together {
	if completes {
		return r.together[pod].completed()
	}
	return r.together[pod]
}

// completed returns the past of an init container that completed at once.
func (t Together) completed() Together {
	if t.Before != nil {
		t.Before = &Instance{Started: t.Before.Started, Finished: t.Before.Started, Reason: "Completed"}
	}
	return t
}

// LostTogether returns the end of the containers that a loss of power ended together; nil if it
// ended none, or if the pod has had a sandbox since.
func (r *Runtime) LostTogether(pod types.UID) *Instance {
	s := r.lost[pod]
	if s == nil || len(s.running) == 0 {
		return nil
	}
	return &Instance{Started: s.started, Finished: s.lost, Code: PowerLossCode, Reason: PowerLossReason}
}
