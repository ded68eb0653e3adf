package attachdetach

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// attach is the attach operation: after any error the volume may be attached. C-OP-2, C-OP-3
func (c *Controller) attach(p *kernel.Process, at pair, s *spec, pods []*corev1.Pod) error {
	byDriver, err := c.actsFor(at, s)
	switch {
	case err != nil: // no plugin was called, so the state is certain. L-ADC-3
		c.reportFailure(s, pods, err)
		return err
	case !byDriver:
		c.actual.markInTree(at, s)
		return nil
	}
	if err := c.makeAttachment(p, at, s); err != nil {
		c.actual.markUncertain(at, s)
		c.reportFailure(s, pods, err)
		return err
	}
	for _, pod := range pods {
		c.Event(pod, corev1.EventTypeNormal, "SuccessfulAttachVolume", "AttachVolume.Attach succeeded for volume %q ", s.pv.Name)
	}
	c.actual.markAttached(at, s)
	c.trustOnlyIfAttached(at)
	return nil
}

func (c *Controller) reportFailure(s *spec, pods []*corev1.Pod, err error) {
	for _, pod := range pods {
		c.Event(pod, corev1.EventTypeWarning, "FailedAttachVolume", "AttachVolume.Attach failed for volume %q : %v", s.pv.Name, err)
	}
}

// makeAttachment creates the VolumeAttachment unless it exists, and waits until its status reports
// the attachment. C-CSIP-3
func (c *Controller) makeAttachment(p *kernel.Process, at pair, s *spec) error {
	va := attachmentOf(at, s)
	if _, ok := component.Cached[*storagev1.VolumeAttachment](c.Component, store.KeyOf(va)); !ok {
		if _, err := component.Create(p, c.Component, va); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return c.awaitAttachment(p, va.Name, attached, timedOut{driver: s.driver, verb: "attach", handle: s.handle})
}

// attachmentOf returns the VolumeAttachment of a volume on a node. C-CSIP-2
func attachmentOf(at pair, s *spec) *storagev1.VolumeAttachment {
	source := storagev1.VolumeAttachmentSource{PersistentVolumeName: &s.pv.Name}
	if s.inline {
		source = storagev1.VolumeAttachmentSource{InlineVolumeSpec: &s.pv.Spec}
	}
	return &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: objectName(at)},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: s.driver, NodeName: at.node, Source: source},
	}
}

// attached reports whether a VolumeAttachment has the status attached. The VolumeAttachment may be
// nil. C-CSIP-5: an error that was reported earlier fails at once. C-CSIP-6
func attached(va *storagev1.VolumeAttachment) (done bool, err error) {
	switch {
	case va == nil:
		return false, nil
	case va.DeletionTimestamp != nil:
		return false, fmt.Errorf("VolumeAttachment %s is being deleted", va.Name)
	case va.Status.Attached:
		return true, nil
	case va.Status.AttachError != nil:
		return false, errors.New(va.Status.AttachError.Message)
	default:
		return false, nil
	}
}
