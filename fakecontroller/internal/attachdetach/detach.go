package attachdetach

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// detach is the detach operation. After any error the attachment is uncertain, and the node's
// status does not list the volume again. Whether the driver still needs attaching does not matter.
// C-OP-4, C-OP-6
func (c *Controller) detach(p *kernel.Process, at pair, verify bool) error {
	s := c.actual.volumes[at.volume].spec
	byDriver, err := c.actsFor(at, s)
	if err != nil { // L-ADC-3
		return err
	}
	c.checkHandover(at, s, byDriver)
	if byDriver {
		err = c.takeOff(p, at, verify)
	}
	if err == nil {
		c.actual.remove(at)
		return nil
	}
	if v := c.actual.volumes[at.volume]; v != nil {
		c.actual.markUncertain(at, v.spec)
	}
	return err
}

func (c *Controller) takeOff(p *kernel.Process, at pair, verify bool) error {
	if verify {
		if err := c.verifySafe(p, at); err != nil {
			return err
		}
	}
	return c.deleteAttachment(p, at)
}

// verifySafe asks the API server whether the node uses the volume. C-OP-5
func (c *Controller) verifySafe(p *kernel.Process, at pair) error {
	node, err := component.Live[*corev1.Node](p, c.Component, store.Key{Name: at.node})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("verify that volume %s is unmounted from node %s: %w", at.volume, at.node, err)
	case slices.Contains(node.Status.VolumesInUse, corev1.UniqueVolumeName(at.volume)):
		return fmt.Errorf("volume %s is still in use by node %s, according to its status", at.volume, at.node)
	default:
		return nil
	}
}

// deleteAttachment deletes the VolumeAttachment and waits for the end of its deletion. C-CSIP-7
func (c *Controller) deleteAttachment(p *kernel.Process, at pair) error {
	_, handle, ok := volume.SplitUniqueName(at.volume)
	if !ok {
		return fmt.Errorf("volume name %q does not name driver and handle", at.volume)
	}
	name := objectName(at)
	_, err := component.Delete[*storagev1.VolumeAttachment](p, c.Component, store.Key{Name: name})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.awaitAttachment(p, name, detached, timedOut{driver: "unknown", verb: "detach", handle: handle})
}

// detached reports whether a VolumeAttachment was deleted. It is nil then. C-CSIP-7
func detached(va *storagev1.VolumeAttachment) (done bool, err error) {
	switch {
	case va == nil:
		return true, nil
	case va.Status.DetachError != nil:
		return false, errors.New(va.Status.DetachError.Message)
	default:
		return false, nil
	}
}
