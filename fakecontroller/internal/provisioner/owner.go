package provisioner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
)

// owns reports whether this node has to provision a claim. If no node has taken a claim with
// immediate binding, this node tries to take it, and processes the claim again when its annotation
// appears. C-PROV-80
func (c *Provisioner) owns(p *kernel.Process, pvc claim, class *storagev1.StorageClass) (bool, error) {
	if c.local == nil {
		return true, nil
	}
	if node := pvc.Annotations[storagevolume.AnnSelectedNode]; node != "" {
		return node == c.options.Node, nil
	}
	if *class.VolumeBindingMode != storagev1.VolumeBindingImmediate || !*c.options.NodeDeploymentImmediateBinding {
		return false, nil
	}
	if len(class.AllowedTopologies) > 0 && c.promises.Serves("VOLUME_ACCESSIBILITY_CONSTRAINTS") {
		if _, r := c.topologyFor(pvc, class, c.options.Node); r.err != nil {
			delete(c.topologies, pvc.UID)
			return false, nil
		}
	}
	if err := c.becomeOwner(p, pvc, class); err != nil {
		return false, fmt.Errorf("PVC %s: %w", store.KeyOf(pvc), err)
	}
	return false, nil
}

// becomeOwner writes the node into the claim, unless another node was faster or the driver has no
// capacity. After a conflict it tries again, with a longer delay. C-PROV-80
func (c *Provisioner) becomeOwner(p *kernel.Process, pvc claim, class *storagev1.StorageClass) error {
	for {
		current, err := c.awaitOwner(p, pvc)
		if err != nil || current == nil {
			return err
		}
		if fits, err := c.fits(p, pvc, class); err == nil && !fits {
			return nil
		}
		mine := current.DeepCopy()
		metav1.SetMetaDataAnnotation(&mine.ObjectMeta, storagevolume.AnnSelectedNode, c.options.Node)
		_, err = component.Update(p, c.Component, mine)
		switch {
		case err == nil:
			delete(c.local.attempts, pvc.UID)
			return nil
		case !apierrors.IsConflict(err):
			return fmt.Errorf("selecting node %q for PVC failed: %w", c.options.Node, err)
		}
	}
}

// awaitOwner waits for the node's turn and returns the current claim; nil if another node has taken
// it. It reads the claim at intervals.
func (c *Provisioner) awaitOwner(p *kernel.Process, pvc claim) (claim, error) {
	began, poll := p.Elapsed(), max(c.options.NodeDeploymentBaseDelay/100, 10*time.Millisecond)
	until := began + c.turn(p, pvc.UID)
	news := component.Watch[claim](c.Component, p, store.ByKey(store.KeyOf(pvc)))
	defer news.Close()
	for {
		if p.ParkUntil("its turn to take claim "+pvc.Name, until) {
			next := began + ((p.Elapsed()-began)/poll+1)*poll
			p.Sleep(min(next, until) - p.Elapsed())
		}
		for _, ok := news.Next(); ok; _, ok = news.Next() {
		}
		current, ok := component.Cached[claim](c.Component, store.KeyOf(pvc))
		switch {
		case !ok:
			return nil, fmt.Errorf("PVC not found: %w", store.NotFound[claim](store.KeyOf(pvc)))
		case current.UID != pvc.UID:
			return nil, errors.New("PVC was replaced")
		case current.Annotations[storagevolume.AnnSelectedNode] != "":
			delete(c.local.attempts, pvc.UID)
			return nil, nil
		case p.Elapsed() >= until:
			return current, nil
		}
	}
}

// turn returns the time for which a node leaves a claim to other nodes. It grows with every attempt
// and has a random part.
func (c *Provisioner) turn(p *kernel.Process, uid types.UID) time.Duration {
	base, delay := c.options.NodeDeploymentBaseDelay, c.options.NodeDeploymentBaseDelay
	for range c.local.attempts[uid] {
		delay = min(2*delay, c.options.NodeDeploymentMaxDelay)
	}
	c.local.attempts[uid]++
	const steps = 10
	early := time.Duration(p.Kernel().Choose(kernel.Jitter, steps, c.options.Node+" takes a claim")) * base / steps
	return max(0, min(delay, c.options.NodeDeploymentMaxDelay)-early)
}

// fits reports whether the driver has capacity for the claim's volume on the node. C-PROV-80
func (c *Provisioner) fits(p *kernel.Process, pvc claim, class *storagev1.StorageClass) (bool, error) {
	size := pvc.Spec.Resources.Requests[corev1.ResourceStorage]
	if size.Value() == 0 {
		return true, nil
	}
	here := pvc.DeepCopy()
	metav1.SetMetaDataAnnotation(&here.ObjectMeta, storagevolume.AnnSelectedNode, c.options.Node)
	translated, err := migration.Class(class)
	if err != nil {
		return false, err
	}
	plan, failure := c.prepare(p, here, translated)
	if failure.err != nil {
		return false, failure.err
	}
	places := plan.request.GetAccessibilityRequirements().GetRequisite()
	if len(places) == 0 {
		places = []*csi.Topology{nil}
	}
	for _, place := range places {
		answer, err := csi.NewControllerClient(c.conn(p)).GetCapacity(context.Background(), &csi.GetCapacityRequest{
			VolumeCapabilities: plan.request.GetVolumeCapabilities(), Parameters: plan.request.GetParameters(), AccessibleTopology: place,
		})
		if err != nil {
			return false, fmt.Errorf("GetCapacity: %w", err)
		}
		if size.Value() <= answer.GetAvailableCapacity() {
			return true, nil
		}
	}
	return false, nil
}
