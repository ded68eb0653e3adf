package diff

import (
	"strings"
	"time"
)

// Phase is a periodic loop that delays a call. Its period is the tolerated difference of the delay.
type Phase struct {
	// Method is the delayed call; empty means every other method.
	Method string
	// After is the preceding call; empty is any trigger.
	After   string
	Period  time.Duration
	Because string
}

// Phases belong to the tolerance WaitGap. The first that fits counts.
var Phases = []Phase{
	{"ControllerPublishVolume", "ControllerUnpublishVolume", 61 * time.Second, "the attach/detach controller checks every 60 s whether attachments exist"},
	{"ControllerPublishVolume", "NodePublishVolume", 61 * time.Second, "the same, or csi-attacher's --reconcile-sync (fact 67)"},
	{"ControllerPublishVolume", "", 1500 * time.Millisecond, "scheduling, then the attach/detach controller's loop"},
	{"NodeStageVolume", "", 11 * time.Second, "the node status round, 10 s, in which the kubelet reports volumesInUse"},
	{"NodePublishVolume", "NodeStageVolume", 400 * time.Millisecond, "nothing: one operation of the kubelet does both; the allowance is for the load of the recording machine"},
	{"NodeUnstageVolume", "NodeUnpublishVolume", 400 * time.Millisecond, "the kubelet's reconciler, 100 ms"},
	{"NodePublishVolume", "NodePublishVolume", 91 * time.Second, "the pod's next sync, 60 to 90 s, which republishes (fact 43)"},
	{"NodePublishVolume", "", 11 * time.Second, "the same, for a driver that does not stage"},
	{"ControllerUnpublishVolume", "", 11 * time.Second, "the node status round in which the kubelet takes the volume from volumesInUse"},
	{"NodeExpandVolume", "", 91 * time.Second, "the pod's next sync, 60 to 90 s (fact 40)"},
	{"", "", 1500 * time.Millisecond, "the pod worker, 10 ms to 1 s; queues and caches"},
}

// phase returns the tolerated difference of the delay of a method after a trigger.
func phase(method, after string) time.Duration {
	for _, p := range Phases {
		if (p.Method == "" || strings.HasSuffix(method, "/"+p.Method)) && (p.After == "" || strings.HasSuffix(after, "/"+p.After)) {
			return p.Period
		}
	}
	return 0
}
