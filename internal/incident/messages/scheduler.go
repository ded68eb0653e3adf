package messages

// kube-scheduler: pkg/scheduler of Kubernetes 1.20 to 1.36.
var _ = register(&Table{Program: "kube-scheduler", Names: []string{"kube-scheduler"}, Messages: []Message{
	{"schedule_one.go", "Unable to schedule pod; no fit; waiting", Unschedulable},
	{"schedule_one.go", "Unable to schedule pod; no nodes are registered to the cluster; waiting", Unschedulable},
	{"schedule_one.go", "Successfully bound pod to node", Scheduled},
	{"schedule_one.go", "Attempting to schedule pod", None},
	{"binder.go", "All PVCs for pod are bound", None},
	{"binder.go", "All PVCs for pod {pod} are bound", None},
	{"binder.go", "BindPodVolumes", None},
	{"binder.go", "AssumePodVolumes: all PVCs bound and nothing to do", None},
	{"binder.go", "Updated PersistentVolume with claim. Waiting for binding to complete", None},
	{"binder.go", "Updating PersistentVolumeClaim: binding to volume failed", Unschedulable},
}})
