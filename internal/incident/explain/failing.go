package explain

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// An operation fails again and again.
var _ = register("operation-fails", failing, func(s *Story) (found []Finding) {
	for _, o := range s.order {
		if !o.isFailing() || s.isHung(o) || o.Code == "Multi-Attach" || strings.Contains(o.Error, notRegistered) || o.Code == "Waiting" || o.Kind == "await" {
			continue
		}
		found = append(found, s.failingFinding(o))
	}
	return found
})

// verbs describe the operations in words, and rpcs are their calls.
var (
	verbs = map[string]string{
		"provision": "cannot be provisioned", "delete": "cannot be deleted", "attach": "cannot be attached", "detach": "cannot be detached",
		"stage": "cannot be staged", "publish": "cannot be mounted", "unpublish": "cannot be unmounted", "unstage": "cannot be unstaged",
		"resize": "cannot be expanded", "node resize": "cannot be expanded", "snapshot": "cannot be made", "snapshot delete": "cannot be deleted",
		"group snapshot": "cannot be made", "group snapshot delete": "cannot be deleted",
	}
	rpcs = map[string]string{
		"provision": "CreateVolume", "delete": "DeleteVolume", "attach": "ControllerPublishVolume", "detach": "ControllerUnpublishVolume",
		"stage": "NodeStageVolume", "publish": "NodePublishVolume", "unpublish": "NodeUnpublishVolume", "unstage": "NodeUnstageVolume",
		"resize": "ControllerExpandVolume", "node resize": "NodeExpandVolume", "snapshot": "CreateSnapshot", "snapshot delete": "DeleteSnapshot",
		"group snapshot": "CreateVolumeGroupSnapshot", "group snapshot delete": "DeleteVolumeGroupSnapshot",
	}
	owners = map[string]string{
		"provision": "csi-provisioner", "delete": "csi-provisioner", "attach": "csi-attacher", "detach": "csi-attacher",
		"stage": "kubelet", "publish": "kubelet", "unpublish": "kubelet", "unstage": "kubelet", "await": "kubelet", "node resize": "kubelet", "resize": "csi-resizer", "snapshot": "csi-snapshotter", "snapshot delete": "csi-snapshotter",
		"group snapshot": "csi-snapshotter", "group snapshot delete": "csi-snapshotter",
	}
)

func (s *Story) failingFinding(o *Operation) Finding {
	f := Finding{
		Title: fmt.Sprintf("%s %s%s: %s", upper(o.subject()), verbs[o.Kind], placed(o), codeWords(o)), Component: s.componentOf(o), Certainty: Certain,
		Since: o.Began, Until: o.Last, Cause: o.Error, Seen: places(o), volume: o.Volume, node: o.Node, of: o,
	}
	f.Chain = append(s.waitersFor(o), fmt.Sprintf("%s: %s fails%s, %s%s", s.actor(o), rpcs[o.Kind], on(o), times(o.Failures), next(o)))
	f.explainError(o)
	return f
}

// known are errors with their meaning and the next step.
var known = []struct {
	part, means, advice string
}{
	{"timed out waiting for external-attacher", "kube-controller-manager created the VolumeAttachment, and csi-attacher did not set its status within 2 minutes", "look whether csi-attacher of this driver runs and is leader"},
	{"context deadline exceeded", "the driver did not answer in time; the call may still be under way", "look in the driver's log for the call that does not return"},
	{"operation with the given Volume ID", "an earlier call for the volume has not returned, and the driver refuses further ones until then", "look for the earlier call in the driver's log"},
	{"already mounted or mount point busy", "the device is in use on the node, by another mount or a process", "look at the mounts on the node: findmnt, fuser -vm"},
	{"device or resource busy", "a process or another mount uses it", "look for it on the node: fuser -vm, findmnt"},
	{"fetching Node", "the secret that the PersistentVolume names cannot be read", "create the secret; compare nodeStageSecretRef and nodePublishSecretRef of the PersistentVolume"},
	{"no topology key found on CSINode", "the driver is not registered on the node, or reports no topology there", "look at the pod of the driver on this node, and at spec.drivers of the CSINode"},
	{"to not support node expansion", "the driver lacks the node capability EXPAND_VOLUME, and its controller says that the node must expand", "look at node_expansion_required in the answer to ControllerExpandVolume"},
	{"device is busy", "a process uses the mount", "look for it on the node: fuser -vm"},
	{"target is busy", "a process uses the mount", "look for it on the node: fuser -vm"},
	{"still mounted by other references", "a mount of the staged volume is left, so that the kubelet does not unstage it", "unmount the left mount; the driver's NodeUnpublishVolume answered OK without unmounting"},
	{"wrong fs type, bad option, bad superblock", "the content of the device is no file system that mount knows", "check the device: blkid, dmesg"},
	{"fsck", "the file system is damaged", "check the device by hand: fsck"},
	{"hasn't been attached yet", "the driver's controller has not attached the volume to this node", "look at the driver's controller"},
	{"not found", "the driver does not find the volume, the node or an object", "compare the volume handle of the PersistentVolume with the storage"},
	{"DeadlineExceeded", "the driver did not answer in time", "look in the driver's log for the call"},
}

// explainError adds the meaning of a known error.
func (f *Finding) explainError(o *Operation) {
	for _, k := range known {
		if !strings.Contains(o.Error, k.part) && o.Code != k.part {
			continue
		}
		f.Cause = o.Error + " — " + k.means
		f.Advice = k.advice
		return
	}
}

func codeWords(o *Operation) string {
	message := firstLine(o.Error)
	if o.Code == "" || o.Code == "Error" {
		return message
	}
	return strings.TrimSuffix(o.Code+": "+message, ": ")
}

// longestCause bounds the error in a title.
const longestCause = 160

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > longestCause {
		return string(runes[:longestCause]) + "…"
	}
	return line
}

// subject returns the volume, snapshot or group of an operation.
func (o *Operation) subject() string {
	if strings.HasPrefix(o.Volume.Claim, ofSnapshot) || strings.HasPrefix(o.Volume.Claim, ofGroup) {
		return o.Volume.Claim
	}
	return o.Volume.String()
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// snapshotController creates the contents of snapshots, and csi-snapshotter calls the driver.
const snapshotController = "snapshot-controller"

// placed returns the node of an operation in a title.
func placed(o *Operation) string {
	switch {
	case o.Node == "":
		return ""
	case o.Kind == "attach", o.Kind == "await":
		return " to " + o.Node
	case o.Kind == "detach":
		return " from " + o.Node
	}
	return " on " + o.Node
}

func on(o *Operation) string {
	if o.Node == "" {
		return ""
	}
	return " (" + o.Node + ")"
}

func times(n int) string { return plural.Of(n, "time") }

func next(o *Operation) string {
	if o.Next <= o.Last {
		return ""
	}
	return "; next attempt in " + trace.Span(o.Next-o.Last)
}

// actor returns the component that carries an operation out.
func (s *Story) actor(o *Operation) string {
	by := owners[o.Kind]
	if (o.Kind == "snapshot" || o.Kind == "group snapshot") && o.By == snapshotController {
		return snapshotController
	}
	if by == "kubelet" && o.Node != "" {
		return "kubelet " + o.Node
	}
	return by
}

// componentOf returns the component that holds a failing operation: the driver, if it answered.
func (s *Story) componentOf(o *Operation) string {
	isOwn := o.isOfDriver && o.Volume.Driver != ""
	if !isOwn && (o.Code == "Error" || o.Code == "") || strings.Contains(o.Error, "timed out waiting for external-attacher") {
		return s.actor(o)
	}
	if o.Volume.Driver != "" {
		return "driver " + o.Volume.Driver
	}
	return "the driver"
}

func places(o *Operation) []Place {
	if o.First == o.Seen {
		return []Place{o.Seen}
	}
	return []Place{o.First, o.Seen}
}

// waitersFor lists the pods that wait for a volume to be mounted.
func (s *Story) waitersFor(o *Operation) (lines []string) {
	switch o.Kind {
	case "attach", "stage", "publish", "provision":
		if o.Pod != "" {
			lines = append(lines, "pod "+shortName(o.Pod)+" waits for "+o.subject())
		}
	}
	return lines
}
