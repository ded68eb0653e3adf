package realcluster

import "testing"

// kube-scheduler 1.36 counts every node of the cluster in its message; a trace counts only the
// nodes of the scenario.
func TestSchedulerMessageIsAboutTheNodesOfTheScenario(t *testing.T) {
	for name, c := range map[string]struct{ real, want string }{
		"a reason for all": {
			"0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
			"0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
		},
		"the taint of the control plane alone, last": {
			"0/3 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
			"0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
		},
		"the taint first": {
			"0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) exceed max volume count. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.",
			"0/2 nodes are available: 2 node(s) exceed max volume count. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.",
		},
		"a node of the scenario has a taint, too": {
			"0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) had untolerated taint(s).",
			"0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s).",
		},
		"not about nodes": {"AttachVolume.Attach succeeded", "AttachVolume.Attach succeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ofNodes(c.real, 3, 2); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
