//go:build linux

package service

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
)

// PodInfo is the prefix of the keys that Kubernetes adds to a volume's context if the CSIDriver
// object has podInfoOnMount. ephemeral is the key that marks inline volumes.
const (
	PodInfo   = "csi.storage.k8s.io/"
	ephemeral = PodInfo + "ephemeral"
)

// InlineID is the form of the ids that the kubelet gives inline volumes. Without podInfoOnMount,
// only the id identifies them.
var InlineID = regexp.MustCompile(`^csi-[0-9a-f]{64}$`)

// isInline reports whether a request concerns a volume in a pod's own spec. Such a volume is a
// directory on this node that exists while it is published.
func (n *node) isInline(req *csi.NodePublishVolumeRequest) bool {
	marked, given := req.GetVolumeContext()[ephemeral]
	return n.Config.Inline && (marked == "true" || !given && InlineID.MatchString(req.GetVolumeId()))
}

// isInlineID reports whether an id is the id of an inline volume.
func (n *node) isInlineID(id string) bool { return n.Config.Inline && InlineID.MatchString(id) }

// publishInline creates the volume and binds it on the target path.
func (n *node) publishInline(req *csi.NodePublishVolumeRequest, a access) error {
	if a.block {
		return invalid("an inline volume is a file system")
	}
	if n.Config.InlineReadOnly && !req.GetReadonly() {
		return invalid("an inline volume has to be read-only")
	}
	if err := checkAttributes(req.GetVolumeContext()); err != nil {
		return err
	}
	target, err := mount.Resolve(req.GetTargetPath())
	if err != nil {
		return invalid("the parent directory of target_path must exist: %v", err)
	}
	dir := n.Inlines.Dir(req.GetVolumeId())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	flags := a.flags
	if req.GetReadonly() {
		flags |= mount.ReadOnly
	}
	p := placement.Placement{
		VolumeID: req.GetVolumeId(), Path: target, Target: true,
		ReadOnly: flags&mount.ReadOnly != 0, Mode: a.mode.String(), Flags: a.flagList(),
	}
	return n.publish(backend.Volume{ID: req.GetVolumeId()}, dir, p, a, flags)
}

// checkAttributes rejects all volume attributes except size.
func checkAttributes(attributes map[string]string) error {
	for key, value := range attributes {
		switch {
		case strings.HasPrefix(key, PodInfo):
		case key != "size":
			return invalid("volume attribute %q is not known", key)
		default:
			if _, err := resource.ParseQuantity(value); err != nil {
				return invalid("volume attribute size: %q is no quantity", value)
			}
		}
	}
	return nil
}

// removeInline removes the content of an inline volume that is no longer published.
func (n *node) removeInline(id string) (was bool, err error) {
	dir := n.Inlines.Dir(id)
	_, err = os.Stat(dir)
	if os.IsNotExist(err) {
		return false, nil
	}
	return true, os.RemoveAll(dir)
}

type inlines struct{ *Driver }

// Dir returns the directory of an inline volume.
func (i inlines) Dir(id string) string { return filepath.Join(i.Config.NodeStateDir, "inline", id) }
