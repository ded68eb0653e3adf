package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
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
	// actionTime is the virtual time between two actions of a user or an administrator.
	actionTime = 2 * time.Second
	// actionPatience limits the wait for objects that the user has deleted.
	actionPatience = time.Hour
)

// actions are actions of users and administrators in the middle of a call, at its site. At the end
// the cluster must reach the state of its scenario, which continues meanwhile: deleted objects are
// created again with the same name, unless the scenario deletes them, too.
var actions = map[fault.Action]func(*Simulation, *kernel.Process, fault.Site) error{
	fault.PodsAgain: func(c *Simulation, p *kernel.Process, _ fault.Site) error { return c.deleteAgain(p, c.podsOn("")) },
	fault.PodsByForce: func(c *Simulation, p *kernel.Process, _ fault.Site) error {
		return c.deleteAgain(p, c.podsOn(""), store.GracePeriod(0))
	},
	fault.ClaimsAgain: func(c *Simulation, p *kernel.Process, _ fault.Site) error {
		return c.deleteAgain(p, applications(c, all[*corev1.PersistentVolumeClaim]))
	},
	fault.AllAgain: func(c *Simulation, p *kernel.Process, _ fault.Site) error {
		return c.deleteAgain(p, append(applications(c, all[*corev1.PersistentVolumeClaim]), applications(c, all[*corev1.Pod])...))
	},
	fault.Scales:         (*Simulation).scale,
	fault.Edits:          (*Simulation).editClaims,
	fault.Drains:         (*Simulation).drain,
	fault.Detaches:       (*Simulation).deleteAttachments,
	fault.DeletesNode:    (*Simulation).deleteNode,
	fault.SocketVanishes: (*Simulation).loseRegistration,
	fault.RegistersTwice: (*Simulation).registerTwice,
}

// do lets a user perform an action during a call.
func (c *Simulation) do(action fault.Action, at fault.Site) {
	c.World.Kernel.After(nil, "user", 0, func(p *kernel.Process) {
		err := actions[action](c, p, at)
		config := (*ConfigError)(nil)
		if err == nil || errors.As(err, &config) || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
			return // rejections by the API, or by this cluster, are no error
		}
		c.World.Kernel.Interrupt(fmt.Errorf("%s: %w", action, err))
	})
}

// application is an object that the scenario has applied.
type application struct {
	res *store.Resource
	key store.Key
}

// applications returns the objects of a type that the scenario has applied, and that still exist
// and are not being deleted, if which selects them.
func applications[T store.Object](c *Simulation, which func(T) bool) (there []application) {
	var none T
	res, err := store.ResourceOf(none)
	if err != nil {
		return nil // a store without such
	}
	for obj := range store.List[T](c.World.Store, "") {
		key := store.KeyOf(obj)
		if _, own := c.applied[res][key]; own && obj.GetDeletionTimestamp() == nil && which(obj) {
			there = append(there, application{res, key})
		}
	}
	return there
}

func all[T store.Object](T) bool { return true }

// podsOn are the pods that the scenario has applied on one node or, without a name, on all.
func (c *Simulation) podsOn(node string) []application {
	return applications(c, func(p *corev1.Pod) bool { return node == "" || p.Spec.NodeName == node })
}

// deleteAgain deletes objects, and creates them again after their deletion.
func (c *Simulation) deleteAgain(p *kernel.Process, leaving []application, opts ...store.DeleteOption) error {
	var errs []error
	for _, a := range leaving {
		c.note("", "a user deletes %s %s", singular(a.res), a.key)
		_, err := c.World.Store.DeleteObject(a.res, a.key, opts...)
		errs = append(errs, err)
	}
	return errors.Join(append(errs, c.makeAgain(p, leaving))...)
}

func singular(r *store.Resource) string { return strings.ToLower(r.GVK.Kind) }

// makeAgain creates objects that a user has deleted, each after its deletion, unless the scenario
// has deleted it as well.
func (c *Simulation) makeAgain(p *kernel.Process, leaving []application) error {
	var errs []error
	for end := p.Elapsed() + actionPatience; p.Elapsed() < end; p.Sleep(actionTime) {
		leaving = slices.DeleteFunc(slices.Clone(leaving), func(a application) bool {
			if c.unwanted[a] {
				return true
			}
			if _, is := c.World.Store.GetObject(a.res, a.key); is {
				return false
			}
			errs = append(errs, c.applyAgain(a))
			return true
		})
		if len(leaving) == 0 {
			break
		}
	}
	return errors.Join(errs...)
}

// applyAgain creates an object as the scenario has applied it.
func (c *Simulation) applyAgain(a application) error {
	manifest, err := c.applied[a.res][a.key].json(a.res)
	if err != nil {
		return fmt.Errorf("read the manifest of %s %s: %w", singular(a.res), a.key, err)
	}
	obj := a.res.New()
	if err := json.Unmarshal(manifest, obj); err != nil {
		return fmt.Errorf("read the manifest of %s %s: %w", singular(a.res), a.key, err)
	}
	c.note("", "a user makes %s %s again", singular(a.res), a.key)
	_, err = c.apply(obj)
	return err
}

// scale scales all workloads that the scenario has applied to zero for a while.
func (c *Simulation) scale(p *kernel.Process, _ fault.Site) error {
	var back []func() error
	for _, a := range applications(c, all[*appsv1.StatefulSet]) {
		back = append(back, scaled(c, a.key, func(s *appsv1.StatefulSet) **int32 { return &s.Spec.Replicas }))
	}
	for _, a := range applications(c, all[*appsv1.Deployment]) {
		back = append(back, scaled(c, a.key, func(d *appsv1.Deployment) **int32 { return &d.Spec.Replicas }))
	}
	p.Sleep(10 * actionTime)
	var errs []error
	for _, scaleBack := range back {
		errs = append(errs, scaleBack())
	}
	return errors.Join(errs...)
}

// scaled scales one workload to zero and returns the function that scales it back. A workload
// without replicas, for example after another user has scaled it, stays as it is.
func scaled[T store.Object](c *Simulation, key store.Key, replicas func(T) **int32) (back func() error) {
	var before *int32
	to := func(n *int32) error {
		_, err := store.Modify(c.World.Store, key, func(workload T) { *replicas(workload) = n })
		return err
	}
	if workload, is := store.Get[T](c.World.Store, key); is {
		before = *replicas(workload)
	}
	if before != nil && *before == 0 {
		return func() error { return nil }
	}
	c.note("", "a user scales %s to none", key)
	err := to(new(int32))
	return func() error {
		c.note("", "a user scales %s back", key)
		return errors.Join(err, to(before))
	}
}

// editClaims changes a label of all claims and their volumes: a component that has read one before
// gets a conflict when it writes.
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

// drain removes the pods from the node of a call, and lets others be scheduled there later.
func (c *Simulation) drain(p *kernel.Process, at fault.Site) error {
	cordon := func(on bool) error {
		_, err := store.Modify(c.World.Store, store.Key{Name: at.Node}, func(n *corev1.Node) { n.Spec.Unschedulable = on })
		return err
	}
	c.note(at.Node, "an administrator drains node %s", at.Node)
	if err := cordon(true); err != nil {
		return err
	}
	c.World.Kernel.After(nil, "administrator", 10*actionTime, func(*kernel.Process) {
		c.note(at.Node, "an administrator uncordons node %s", at.Node)
		if err := cordon(false); err != nil && !apierrors.IsNotFound(err) {
			c.World.Kernel.Interrupt(err)
		}
	})
	return c.deleteAgain(p, c.podsOn(at.Node))
}

// deleteNode deletes the Node object of a call, and its kubelet creates it again. The node keeps
// unfinished work: its pods are deleted, and the attach/detach controller waits for it (C-ADC-24).
func (c *Simulation) deleteNode(p *kernel.Process, at fault.Site) error {
	own := c.podsOn(at.Node)
	c.note(at.Node, "an administrator deletes node %s", at.Node)
	if _, err := store.Delete[*corev1.Node](c.World.Store, store.Key{Name: at.Node}); err != nil {
		return err
	}
	p.Sleep(actionTime)
	c.Wire.KillAndRestart(&fault.Fault{Victim: fault.Kubelet, RestartAfter: actionTime}, wire.Site{Node: at.Node}, "the deletion of its node")
	return c.makeAgain(p, own)
}

// deleteAttachments deletes all VolumeAttachments, as some administrators do if one is not removed.
func (c *Simulation) deleteAttachments(*kernel.Process, fault.Site) error {
	var errs []error
	for _, va := range slices.Collect(store.List[*storagev1.VolumeAttachment](c.World.Store, "")) {
		c.note("", "an administrator deletes VolumeAttachment %s", va.Name)
		_, err := store.Delete[*storagev1.VolumeAttachment](c.World.Store, store.KeyOf(va))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// loseRegistration removes the registration socket of the called plugin for a while.
func (c *Simulation) loseRegistration(p *kernel.Process, at fault.Site) error {
	if err := c.stopRegistrar(at.Driver, at.Node); err != nil {
		return err
	}
	p.Sleep(actionTime)
	if n, err := c.node(at.Node); err != nil || n.off {
		return err
	}
	return c.startRegistrar(at.Driver, at.Node)
}

// registerTwice lets the called plugin register again at a second socket, beside the existing one.
func (c *Simulation) registerTwice(_ *kernel.Process, at fault.Site) error {
	if err := c.killRegistrar(at.Driver, at.Node); err != nil {
		return err
	}
	return c.startRegistrar(at.Driver, at.Node)
}
