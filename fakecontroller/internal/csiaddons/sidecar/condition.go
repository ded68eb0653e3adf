package sidecar

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// VolumeCondition are the flags of the reporter of volume conditions. A-SIDE-1
type VolumeCondition struct {
	// Interval is the pause between two checks of the volumes. Default: 1 min.
	Interval time.Duration `json:"interval,omitzero" example:"3s" doc:"--volume-condition-interval: the pause between two checks; default 1m."`
	// Recorders are the ways of reporting a condition. Default: all.
	Recorders []string `json:"recorders,omitempty" enum:"log|pvcEvent|pvcAnnotation" doc:"--volume-condition-recorders: the ways in which a condition is reported: log, pvcEvent, pvcAnnotation; default all."`
}

// The recorders. A-COND-4
const (
	eventRecorder      = "pvcEvent"
	annotationRecorder = "pvcAnnotation"
)

const (
	conditionInterval = time.Minute
	// Followed by the node's uid. A-COND-5.
	healthAnnotation = "csiaddons.openshift.io/volumehealth."
	// VOLUME_CONDITION, which CSI 1.13 removed from the bindings.
	nodeConditions = csi.NodeServiceCapability_RPC_Type(4)
)

// reporter reports the conditions of the volumes that are attached to the sidecar's node.
type reporter struct {
	*run
	driver string
	uid    string // of the node
	stages bool
	// seen is the last report for each volume.
	seen map[string]contract.VolumeCondition
}

// report finds the driver's own socket, and checks the volumes repeatedly. Errors outside of the
// check of one volume end the sidecar. A-COND-1, A-COND-2
func (r *run) report(p *kernel.Process) {
	answer, err := r.identity(p).GetIdentity(ctx, &identity.GetIdentityRequest{})
	if err != nil {
		r.fail(p)
	}
	p.Sleep(atOnce)
	c := &reporter{run: r, driver: answer.GetName(), seen: map[string]contract.VolumeCondition{}}
	c.meet(p)
	for {
		p.Idle(r.conditionInterval())
		node, err := component.Live[*corev1.Node](p, r.Component, store.Key{Name: r.opts.NodeID})
		if err != nil {
			r.fail(p)
		}
		c.look(p, attached(node, c.driver))
	}
}

func (r *run) conditionInterval() time.Duration {
	if r.opts.VolumeCondition.Interval > 0 {
		return r.opts.VolumeCondition.Interval
	}
	return conditionInterval
}

func (r *run) records(recorder string) bool {
	chosen := r.opts.VolumeCondition.Recorders
	return len(chosen) == 0 || slices.Contains(chosen, recorder)
}

// meet requests the name and the capabilities of the driver at the socket. A-COND-1
func (c *reporter) meet(p *kernel.Process) {
	info, err := csi.NewIdentityClient(c.csiConn(p)).GetPluginInfo(ctx, &csi.GetPluginInfoRequest{})
	if err != nil || info.GetName() != c.driver {
		c.fail(p)
	}
	caps, err := csi.NewNodeClient(c.csiConn(p)).NodeGetCapabilities(ctx, &csi.NodeGetCapabilitiesRequest{})
	can := func(t csi.NodeServiceCapability_RPC_Type) bool {
		return slices.ContainsFunc(caps.GetCapabilities(), func(has *csi.NodeServiceCapability) bool { return has.GetRpc().GetType() == t })
	}
	if err != nil || !can(nodeConditions) {
		c.fail(p)
	}
	c.stages = can(csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME)
	node, err := component.Live[*corev1.Node](p, c.Component, store.Key{Name: c.opts.NodeID})
	if err != nil {
		c.fail(p)
	}
	c.uid = string(node.UID)
}

// csiConn returns a connection to the socket of CSI, which differs from the socket of CSI-Addons.
// A-COND-1
func (c *reporter) csiConn(p *kernel.Process) grpc.ClientConnInterface {
	return c.wire.Conn(p, wire.Site{
		Caller: c.opts.Caller, Driver: c.opts.Driver, Node: c.opts.Node, Machine: c.opts.Machine,
		Socket: path.Join(c.opts.Machine.Layout().KubeletDir(), "plugins", c.driver, "csi.sock"), Deadline: p.Elapsed() + c.opts.Timeout,
	})
}

// attached returns the driver's volumes that a node's status lists as attached. A-COND-2
func attached(node *corev1.Node, driver string) (handles []string) {
	for _, v := range node.Status.VolumesAttached {
		parts := strings.Split(strings.TrimPrefix(string(v.Name), "kubernetes.io/csi/"), "^")
		if len(parts) == 2 && strings.HasPrefix(string(v.Name), "kubernetes.io/csi/") && parts[0] == driver {
			handles = append(handles, parts[1])
		}
	}
	return handles
}

// look requests the condition of each volume from the driver. An error affects only its volume.
// A-COND-3
func (c *reporter) look(p *kernel.Process, handles []string) {
	for _, handle := range handles {
		at := c.pathOf(handle)
		if at == "" {
			continue
		}
		answer, err := csi.NewNodeClient(c.csiConn(p)).NodeGetVolumeStats(ctx, &csi.NodeGetVolumeStatsRequest{VolumeId: handle, VolumePath: at})
		if err != nil {
			continue
		}
		condition, known := contract.ConditionOf(answer)
		if !known {
			continue
		}
		before, had := c.seen[handle]
		c.seen[handle] = condition
		c.record(p, handle, condition, !had || before != condition)
	}
	for handle := range c.seen { // any order will do: each is checked separately
		if !slices.Contains(handles, handle) {
			delete(c.seen, handle)
		}
	}
}

// pathOf returns the path at which a volume is mounted; empty if it is not mounted. A-COND-3
func (c *reporter) pathOf(handle string) string {
	if !c.stages {
		dir, _ := c.published(handle)
		return dir
	}
	for _, at := range []string{c.opts.stagingOf(c.driver, handle), path.Join(c.opts.stagingOf(c.driver, handle), handle)} {
		if mounted, err := c.opts.Machine.IsMountPoint(at); err == nil && mounted {
			return at
		}
	}
	return ""
}

// published finds a directory at which a volume is published for some pod, and the volume's name.
// It uses the file that the kubelet keeps beside the volume. A-COND-3
func (c *reporter) published(handle string) (dir, volume string) {
	pods, _ := c.opts.Machine.ReadDir(path.Join(c.opts.Machine.Layout().KubeletDir(), "pods"))
	for _, pod := range pods {
		at := path.Join(c.opts.Machine.Layout().KubeletDir(), "pods", pod.Name(), "volumes/kubernetes.io~csi")
		volumes, _ := c.opts.Machine.ReadDir(at)
		for _, v := range volumes {
			var data struct {
				Driver string `json:"driverName"`
				Volume string `json:"specVolID"`
				Handle string `json:"volumeHandle"`
			}
			text, err := c.opts.Machine.ReadFile(path.Join(at, v.Name(), "vol_data.json"))
			if err == nil && json.Unmarshal(text, &data) == nil && data.Driver == c.driver && data.Handle == handle {
				return path.Join(at, v.Name(), "mount"), data.Volume
			}
		}
	}
	return "", ""
}

// record reports a condition on the claim: by an event if it has changed, and always in an
// annotation. A-COND-4
func (c *reporter) record(p *kernel.Process, handle string, condition contract.VolumeCondition, changed bool) {
	_, name := c.published(handle)
	if name == "" || !changed && !c.records(annotationRecorder) {
		return
	}
	volume, err := component.Live[*corev1.PersistentVolume](p, c.Component, store.Key{Name: name})
	if err != nil || volume.Spec.ClaimRef == nil {
		return
	}
	claim, err := component.Live[*corev1.PersistentVolumeClaim](p, c.Component, store.Key{Namespace: volume.Spec.ClaimRef.Namespace, Name: volume.Spec.ClaimRef.Name})
	if err != nil {
		return
	}
	if changed && c.records(eventRecorder) {
		kind, reason := corev1.EventTypeNormal, "VolumeConditionHealthy"
		if condition.Abnormal {
			kind, reason = corev1.EventTypeWarning, "VolumeConditionAbnormal"
		}
		c.EventFrom("CSI-Addons", claim, kind, reason, "%s", condition.Message)
	}
	if c.records(annotationRecorder) && claim.DeletionTimestamp == nil {
		c.annotate(p, claim, condition)
	}
}

// annotate writes the condition, the time of its observation, and the time of its start. A-COND-5
func (c *reporter) annotate(p *kernel.Process, claim *corev1.PersistentVolumeClaim, condition contract.VolumeCondition) {
	var is, was struct {
		State       string `json:"state"`
		LastChecked string `json:"lastChecked"`
		Since       string `json:"since"`
		Node        string `json:"node"`
	}
	is.State, is.LastChecked, is.Node = "healthy", p.Now().UTC().Format(time.RFC3339), c.opts.NodeID
	if condition.Abnormal {
		is.State = "unhealthy"
	}
	is.Since = is.LastChecked
	key := healthAnnotation + c.uid
	if json.Unmarshal([]byte(claim.Annotations[key]), &was) == nil && was.State == is.State && was.Since != "" {
		is.Since = was.Since
	}
	text, err := json.Marshal(is)
	if err != nil {
		return
	}
	// A failed write is repeated in the next round.
	_, _ = component.PatchMetadata(p, c.Component, store.KeyOf(claim), func(claim *corev1.PersistentVolumeClaim) {
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[key] = string(text)
	})
}
