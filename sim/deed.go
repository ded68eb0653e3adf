package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const (
	// deedTime is how long, in virtual time, a user or an administrator takes between two things that he does.
	deedTime = 2 * time.Second
	// deedPatience bounds how long he waits for what he has deleted.
	deedPatience = time.Hour
)

// deeds are what users and administrators do in the middle of a call, at its site. In the end the cluster is to become what its
// scenario wants, which goes on meanwhile: what is deleted comes again with the same name, unless the scenario deletes it, too.
var deeds = map[fault.Deed]func(*Simulation, *kernel.Process, fault.Site) error{
	fault.PodsAgain: func(c *Simulation, p *kernel.Process, _ fault.Site) error { return c.podsAgain(p, "") },
	fault.PodsByForce: func(c *Simulation, p *kernel.Process, _ fault.Site) error {
		return c.podsAgain(p, "", store.GracePeriod(0))
	},
	fault.Edits:          (*Simulation).editClaims,
	fault.Drains:         (*Simulation).drain,
	fault.Detaches:       (*Simulation).deleteAttachments,
	fault.DeletesNode:    (*Simulation).deleteNode,
	fault.SocketVanishes: (*Simulation).loseRegistration,
	fault.RegistersTwice: (*Simulation).registerTwice,
}

// do has somebody do something at a call.
func (c *Simulation) do(deed fault.Deed, at fault.Site) {
	c.World.Kernel.After(nil, "user", 0, func(p *kernel.Process) {
		err := deeds[deed](c, p, at)
		config := (*ConfigError)(nil)
		if err == nil || errors.As(err, &config) || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
			return // what the API, or this cluster, refuses is refused
		}
		c.World.Kernel.Interrupt(fmt.Errorf("%s: %w", deed, err))
	})
}

// podsAgain deletes the pods that the scenario has applied, on one node or all, and makes them again when they are gone.
func (c *Simulation) podsAgain(p *kernel.Process, node string, opts ...store.DeleteOption) error {
	leaving := c.appliedPodsOn(node)
	var errs []error
	for _, key := range leaving {
		c.note("", "a user deletes pod %s", key)
		_, err := store.Delete[*corev1.Pod](c.World.Store, key, opts...)
		errs = append(errs, err)
	}
	for _, key := range leaving {
		errs = append(errs, c.podAgain(p, key))
	}
	return errors.Join(errs...)
}

// appliedPods are the pods that the scenario has applied, in the form in which that is kept.
func (c *Simulation) appliedPods() map[store.Key]applied {
	res, err := store.ResourceOf(&corev1.Pod{})
	if err != nil {
		return nil // a store without pods
	}
	return c.applied[res]
}

// appliedPodsOn are those of them that are there and not deleted, on one node or, without a name, on all.
func (c *Simulation) appliedPodsOn(node string) (there []store.Key) {
	for pod := range store.List[*corev1.Pod](c.World.Store, "") {
		key := store.KeyOf(pod)
		if _, own := c.appliedPods()[key]; own && pod.DeletionTimestamp == nil && (node == "" || pod.Spec.NodeName == node) {
			there = append(there, key)
		}
	}
	return there
}

// podAgain makes a pod that a user has deleted, when it is gone.
func (c *Simulation) podAgain(p *kernel.Process, key store.Key) error {
	for end := p.Elapsed() + deedPatience; p.Elapsed() < end; p.Sleep(deedTime) {
		if c.unwanted[key] {
			return nil
		}
		if _, is := store.Get[*corev1.Pod](c.World.Store, key); is {
			continue
		}
		pod := &corev1.Pod{}
		if err := pod.Unmarshal([]byte(c.appliedPods()[key])); err != nil {
			return fmt.Errorf("read the manifest of pod %s: %w", key, err)
		}
		c.note("", "a user makes pod %s again", key)
		_, err := c.apply(pod)
		return err
	}
	return nil
}

// editClaims changes a label of all claims and their volumes: who has read one before writes in vain.
func (c *Simulation) editClaims(*kernel.Process, fault.Site) error {
	c.note("", "a user edits all claims and volumes")
	return errors.Join(edit[*corev1.PersistentVolumeClaim](c.World.Store), edit[*corev1.PersistentVolume](c.World.Store))
}

// edit changes a label of all objects of a type.
func edit[T store.Object](s *store.Store) error {
	var errs []error
	for _, o := range slices.Collect(store.List[T](s, "")) {
		_, err := store.Modify(s, store.KeyOf(o), func(o T) {
			labels := maps.Clone(o.GetLabels())
			if labels == nil {
				labels = map[string]string{}
			}
			labels["edited"] += "x"
			o.SetLabels(labels)
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// drain takes the pods off the node of a call, and lets others come again later.
func (c *Simulation) drain(p *kernel.Process, at fault.Site) error {
	cordon := func(on bool) error {
		_, err := store.Modify(c.World.Store, store.Key{Name: at.Node}, func(n *corev1.Node) { n.Spec.Unschedulable = on })
		return err
	}
	c.note(at.Node, "an administrator drains node %s", at.Node)
	if err := cordon(true); err != nil {
		return err
	}
	c.World.Kernel.After(nil, "administrator", 10*deedTime, func(*kernel.Process) {
		c.note(at.Node, "an administrator uncordons node %s", at.Node)
		if err := cordon(false); err != nil && !apierrors.IsNotFound(err) {
			c.World.Kernel.Interrupt(err)
		}
	})
	return c.podsAgain(p, at.Node)
}

// deleteNode deletes the Node object of a call and has its kubelet make it anew. What it was busy with stays there: its pods are deleted
// for it, and the attach/detach controller waits for it (C-ADC-24).
func (c *Simulation) deleteNode(p *kernel.Process, at fault.Site) error {
	own := c.appliedPodsOn(at.Node)
	c.note(at.Node, "an administrator deletes node %s", at.Node)
	if _, err := store.Delete[*corev1.Node](c.World.Store, store.Key{Name: at.Node}); err != nil {
		return err
	}
	p.Sleep(deedTime)
	c.Wire.KillAndRestart(fault.Kubelet, wire.Site{Node: at.Node}, deedTime, "the deletion of its node")
	var errs []error
	for _, key := range own {
		errs = append(errs, c.podAgain(p, key))
	}
	return errors.Join(errs...)
}

// deleteAttachments deletes all VolumeAttachments, as some do who see one that does not go.
func (c *Simulation) deleteAttachments(*kernel.Process, fault.Site) error {
	var errs []error
	for _, va := range slices.Collect(store.List[*storagev1.VolumeAttachment](c.World.Store, "")) {
		c.note("", "an administrator deletes VolumeAttachment %s", va.Name)
		_, err := store.Delete[*storagev1.VolumeAttachment](c.World.Store, store.KeyOf(va))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// loseRegistration takes the registration socket of the called plugin away for a while.
func (c *Simulation) loseRegistration(p *kernel.Process, at fault.Site) error {
	if err := c.stopRegistrar(at.Driver, at.Node); err != nil {
		return err
	}
	p.Sleep(deedTime)
	if n, err := c.node(at.Node); err != nil || n.off {
		return err
	}
	return c.startRegistrar(at.Driver, at.Node)
}

// registerTwice has the called plugin register anew beside the socket that is there.
func (c *Simulation) registerTwice(_ *kernel.Process, at fault.Site) error {
	if err := c.killRegistrar(at.Driver, at.Node); err != nil {
		return err
	}
	return c.startRegistrar(at.Driver, at.Node)
}
