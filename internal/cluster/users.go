package cluster

import (
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
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const (
	// actionTime is the virtual time between two actions of a user or an administrator.
	actionTime = 2 * time.Second
	// actionPatience limits the wait for objects that the user has deleted.
	actionPatience = time.Hour
)

// Users are the users and administrators of a cluster. They act in the middle of a call, at its
// site. At the end the cluster must reach the state of its scenario, which continues meanwhile.
// Deleted objects are created again with the same name, unless the scenario also deletes them.
type Users struct {
	World   *component.World
	Wire    *wire.Wire
	Objects *Objects
	Drivers *Drivers
}

// actions are the actions of users and administrators.
var actions = map[fault.Action]func(*Users, *kernel.Process, fault.Site) error{
	fault.PodsAgain: func(u *Users, p *kernel.Process, _ fault.Site) error { return u.deleteAgain(p, u.podsOn("")) },
	fault.PodsByForce: func(u *Users, p *kernel.Process, _ fault.Site) error {
		return u.deleteAgain(p, u.podsOn(""), store.GracePeriod(0))
	},
	fault.ClaimsAgain: func(u *Users, p *kernel.Process, _ fault.Site) error {
		return u.deleteAgain(p, applications(u, all[*corev1.PersistentVolumeClaim]))
	},
	fault.AllAgain: func(u *Users, p *kernel.Process, _ fault.Site) error {
		return u.deleteAgain(p, append(applications(u, all[*corev1.PersistentVolumeClaim]), applications(u, all[*corev1.Pod])...))
	},
	fault.Scales:         (*Users).scale,
	fault.Edits:          (*Users).editClaims,
	fault.Drains:         (*Users).drain,
	fault.Detaches:       (*Users).deleteAttachments,
	fault.DeletesNode:    (*Users).deleteNode,
	fault.SocketVanishes: (*Users).loseRegistration,
	fault.RegistersTwice: (*Users).registerTwice,
}

// Act makes a user perform an action during a call.
func (u *Users) Act(action fault.Action, at fault.Site) {
	u.World.Kernel.After(nil, "user", 0, func(p *kernel.Process) {
		err := actions[action](u, p, at)
		if config := (*ConfigError)(nil); err == nil || errors.As(err, &config) || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
			return // a rejection by the API or this cluster is not an error
		}
		u.World.Kernel.Interrupt(fmt.Errorf("%s: %w", action, err))
	})
}

// applications returns the objects of a type that the scenario has applied and that the function
// which selects, if they still exist and are not being deleted.
func applications[T store.Object](u *Users, which func(T) bool) (there []Object) {
	var none T
	res, err := store.ResourceOf(none)
	if err != nil {
		return nil // the store lacks this kind
	}
	for obj := range store.List[T](u.World.Store, "") {
		key := store.KeyOf(obj)
		if u.Objects.Has(Object{Resource: res, Key: key}) && obj.GetDeletionTimestamp() == nil && which(obj) {
			there = append(there, Object{Resource: res, Key: key})
		}
	}
	return there
}

func all[T store.Object](T) bool { return true }

// podsOn returns the pods that the scenario has applied on one node; without a name, on all nodes.
func (u *Users) podsOn(node string) []Object {
	return applications(u, func(p *corev1.Pod) bool { return node == "" || p.Spec.NodeName == node })
}

// deleteAgain deletes objects, and creates them again after their deletion.
func (u *Users) deleteAgain(p *kernel.Process, leaving []Object, opts ...store.DeleteOption) error {
	var errs []error
	for _, a := range leaving {
		u.World.Trace.Note("", "a user deletes %s %s", singular(a.Resource), a.Key)
		_, err := u.World.Store.DeleteObject(a.Resource, a.Key, opts...)
		errs = append(errs, err)
	}
	return errors.Join(append(errs, u.makeAgain(p, leaving))...)
}

func singular(r *store.Resource) string { return strings.ToLower(r.GVK.Kind) }

// makeAgain creates objects that a user has deleted, each after its deletion, unless the scenario
// has deleted it as well.
func (u *Users) makeAgain(p *kernel.Process, leaving []Object) error {
	var errs []error
	for end := p.Elapsed() + actionPatience; p.Elapsed() < end; p.Sleep(actionTime) {
		leaving = slices.DeleteFunc(slices.Clone(leaving), func(a Object) bool {
			if u.Objects.IsUnwanted(a) {
				return true
			}
			if _, is := u.World.Store.GetObject(a.Resource, a.Key); is {
				return false
			}
			errs = append(errs, u.applyAgain(a))
			return true
		})
		if len(leaving) == 0 {
			break
		}
	}
	return errors.Join(errs...)
}

// applyAgain creates an object in the form in which the scenario has applied it.
func (u *Users) applyAgain(a Object) error {
	obj, err := u.Objects.AsApplied(a)
	if err != nil {
		return fmt.Errorf("read the manifest of %s %s: %w", singular(a.Resource), a.Key, err)
	}
	u.World.Trace.Note("", "a user makes %s %s again", singular(a.Resource), a.Key)
	_, err = u.Objects.Apply(obj)
	return err
}

// scale scales all workloads that the scenario has applied to zero for a while.
func (u *Users) scale(p *kernel.Process, _ fault.Site) error {
	var back []func() error
	for _, a := range applications(u, all[*appsv1.StatefulSet]) {
		back = append(back, scaled(u, a.Key, func(s *appsv1.StatefulSet) **int32 { return &s.Spec.Replicas }))
	}
	for _, a := range applications(u, all[*appsv1.Deployment]) {
		back = append(back, scaled(u, a.Key, func(d *appsv1.Deployment) **int32 { return &d.Spec.Replicas }))
	}
	p.Sleep(10 * actionTime)
	var errs []error
	for _, scaleBack := range back {
		errs = append(errs, scaleBack())
	}
	return errors.Join(errs...)
}

// scaled scales one workload to zero and returns the function that scales it back. A workload
// without replicas does not change, for example after another user has scaled it.
func scaled[T store.Object](u *Users, key store.Key, replicas func(T) **int32) (back func() error) {
	var before *int32
	to := func(n *int32) error {
		_, err := store.Modify(u.World.Store, key, func(workload T) { *replicas(workload) = n })
		return err
	}
	if workload, is := store.Get[T](u.World.Store, key); is {
		before = *replicas(workload)
	}
	if before != nil && *before == 0 {
		return func() error { return nil }
	}
	u.World.Trace.Note("", "a user scales %s to none", key)
	err := to(new(int32))
	return func() error {
		u.World.Trace.Note("", "a user scales %s back", key)
		return errors.Join(err, to(before))
	}
}

// editClaims changes a label of all claims and their volumes. A component that has read one of them
// before gets a conflict when it writes.
func (u *Users) editClaims(*kernel.Process, fault.Site) error {
	u.World.Trace.Note("", "a user edits all claims and volumes")
	return errors.Join(edit[*corev1.PersistentVolumeClaim](u.World.Store), edit[*corev1.PersistentVolume](u.World.Store))
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

// drain evicts the pods from the node of a call, and permits others to be scheduled there later.
func (u *Users) drain(p *kernel.Process, at fault.Site) error {
	u.World.Trace.Note(at.Node, "an administrator drains node %s", at.Node)
	if err := Cordon(u.World.Store, at.Node, true); err != nil {
		return err
	}
	u.World.Kernel.After(nil, "administrator", 10*actionTime, func(*kernel.Process) {
		u.World.Trace.Note(at.Node, "an administrator uncordons node %s", at.Node)
		if err := Cordon(u.World.Store, at.Node, false); err != nil && !apierrors.IsNotFound(err) {
			u.World.Kernel.Interrupt(err)
		}
	})
	return u.deleteAgain(p, u.podsOn(at.Node))
}

// Cordon stops the scheduling of new pods to a node, or permits it again.
func Cordon(s *store.Store, node string, on bool) error {
	_, err := store.Modify(s, store.Key{Name: node}, func(n *corev1.Node) { n.Spec.Unschedulable = on })
	return err
}

// deleteNode deletes the Node object of a call, and its kubelet creates it again. The node keeps
// its unfinished work: its pods are deleted, and the attach/detach controller waits for the node
// (C-ADC-24).
func (u *Users) deleteNode(p *kernel.Process, at fault.Site) error {
	own := u.podsOn(at.Node)
	u.World.Trace.Note(at.Node, "an administrator deletes node %s", at.Node)
	if _, err := store.Delete[*corev1.Node](u.World.Store, store.Key{Name: at.Node}); err != nil {
		return err
	}
	p.Sleep(actionTime)
	u.Wire.KillAndRestart(&fault.Fault{Victim: fault.Kubelet, RestartAfter: actionTime}, wire.Site{Node: at.Node}, "the deletion of its node")
	return u.makeAgain(p, own)
}

// deleteAttachments deletes all VolumeAttachments, as some administrators do if one of them is
// stuck.
func (u *Users) deleteAttachments(*kernel.Process, fault.Site) error {
	var errs []error
	for _, va := range slices.Collect(store.List[*storagev1.VolumeAttachment](u.World.Store, "")) {
		u.World.Trace.Note("", "an administrator deletes VolumeAttachment %s", va.Name)
		_, err := store.Delete[*storagev1.VolumeAttachment](u.World.Store, store.KeyOf(va))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
