package manager

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Annotations and finalizers of groups. A-VGR-2, A-VGR-3
const (
	groupFinalizer  = replicationPrefix + "vgr-protection"
	groupRef        = replicationPrefix + "volumegroupref"
	provisionedBy   = replicationPrefix + "provisioned-by"
	ownerContent    = replicationPrefix + "volume-group-replication-content-name"
	groupSecret     = replicationPrefix + "group-replication-secret-name"
	groupSecretFrom = replicationPrefix + "group-replication-secret-namespace"
	claimSelector   = "pvcSelector"
)

// groupPause is the interval at which a group waits for the deletion of its parts. A-VGR-10
const groupPause = 15 * time.Second

// startGroups runs the controller of VolumeGroupReplications. A-VGR-5
func (m *Manager) startGroups() {
	queue := workqueue.New("groups", m.oneByOne(), m.Go, m.syncGroup)
	m.follow("groups", (&kinds.GroupReplication{}).Of(), func(e store.Event[store.Object]) {
		if e.Type != store.Modified || byGeneration(e.Old, e.Object) {
			queue.Add(store.KeyOf(e.Object))
		}
	})
	part := func(changed ...string) func(store.Event[store.Object]) {
		return func(e store.Event[store.Object]) {
			namespace, name, ok := strings.Cut(e.Object.GetAnnotations()[groupRef], "/")
			if ok && (e.Type == store.Deleted || e.Type == store.Modified && kinds.Differ(e.Old, e.Object, changed...)) {
				queue.Add(store.Key{Namespace: namespace, Name: name})
			}
		}
	}
	m.follow("contents of groups", (&kinds.GroupContent{}).Of(), part("spec", "status"))
	m.follow("replications of groups", (&kinds.VolumeReplication{}).Of(), part("status"))
	watch(m, "claims of groups", func(e store.Event[*corev1.PersistentVolumeClaim]) {
		// Claims have no generation, so their changes are not noticed.
		if e.Type != store.Modified && len(e.Object.Labels) > 0 {
			m.groupOf(e.Object.Labels, queue.Add)
		}
	})
}

// groupOf finds the first group that a claim's labels match, in any namespace. A-VGR-5
func (m *Manager) groupOf(set labels.Set, add func(store.Key)) {
	for group := range kinds.List[kinds.GroupReplication](m.Component, "") {
		text := group.Annotations[claimSelector]
		if group.Spec.External || text == "" {
			continue
		}
		selector, err := labels.Parse(text)
		if err != nil {
			return
		}
		if selector.Matches(set) {
			add(store.KeyOf(group))
			return
		}
	}
}

// groupPass is one pass of a VolumeGroupReplication.
type groupPass struct {
	*Manager
	process *kernel.Process
	group   *kinds.GroupReplication
	class   *kinds.GroupReplicationClass
}

// syncGroup makes one pass. A-VGR-2
func (m *Manager) syncGroup(p *kernel.Process, key store.Key) error {
	group, err := kinds.Get[kinds.GroupReplication](m.Component, key)
	if err != nil || group.Spec.External {
		return ignoreNotFound(err)
	}
	g := &groupPass{Manager: m, process: p, group: group}
	if g.class, err = kinds.Get[kinds.GroupReplicationClass](m.Component, store.Key{Name: group.Spec.ClassName}); err != nil {
		return g.failed(err)
	}
	if err := checkReplicationParameters(g.class.Spec.Parameters); err != nil {
		return g.failed(err)
	}
	if group.DeletionTimestamp != nil {
		return g.remove()
	}
	if err := m.protect(p, group, groupFinalizer); err != nil {
		return fmt.Errorf("failed to add finalizer (%s) to VolumeGroupReplication resource (%s) %w", groupFinalizer, key, err)
	}
	replication, err := g.assemble()
	switch {
	case err != nil:
		return g.failed(err)
	case replication == nil: // the content has no handle yet
		return nil
	}
	group.Status.ReplicationStatus = replication.Status
	group.Status.ObservedGeneration = group.Generation
	for i := range group.Status.Conditions {
		group.Status.Conditions[i].ObservedGeneration = group.Generation
	}
	return kinds.UpdateStatus(p, m.Component, group)
}

// failed records a failure and returns it.
func (g *groupPass) failed(cause error) error {
	g.group.Status.State = cmp.Or(g.group.Status.State, unknown)
	g.group.Status.Message, g.group.Status.ObservedGeneration = messageOf(cause), g.group.Generation
	_ = kinds.UpdateStatus(g.process, g.Component, g.group) // it is retried anyway
	return cause
}

// assemble brings claims, content and VolumeReplication into the state of the group's spec. Without
// a VolumeReplication the driver has no group yet. A-VGR-2
func (g *groupPass) assemble() (*kinds.VolumeReplication, error) {
	claims, err := g.choose()
	if err != nil {
		return nil, err
	}
	members, err := g.adopt(claims)
	if err != nil {
		return nil, err
	}
	handles, err := g.handles(claims)
	if err != nil {
		return nil, err
	}
	if err := g.noteMembers(members, len(claims)); err != nil {
		return nil, err
	}
	content, err := g.makeContent(handles)
	if err != nil {
		return nil, err
	}
	if g.group.Spec.ContentName == "" {
		g.group.Spec.ContentName = content.Name
		if err := kinds.Update(g.process, g.Component, g.group); err != nil {
			return nil, err
		}
	}
	if content.Spec.Handle == "" {
		return nil, nil
	}
	replication, err := g.makeReplication()
	if err == nil && g.group.Spec.ReplicationName == "" {
		g.group.Spec.ReplicationName = replication.Name
		err = kinds.Update(g.process, g.Component, g.group)
	}
	return replication, err
}

// choose selects the claims of the group and records the outcome in its status. A claim that is
// being deleted stays in a group that already contains it. A-VGR-2, A-VGR-4
func (g *groupPass) choose() ([]*corev1.PersistentVolumeClaim, error) {
	selector, err := metav1.LabelSelectorAsSelector(g.group.Spec.Source.Selector)
	if err != nil {
		return nil, err
	}
	var claims []*corev1.PersistentVolumeClaim
	for claim := range store.List[*corev1.PersistentVolumeClaim](g.Cache, g.group.Namespace) {
		if !selector.Matches(labels.Set(claim.Labels)) {
			continue
		}
		if claim.DeletionTimestamp != nil {
			if !slices.Contains(claim.Finalizers, groupFinalizer) {
				continue
			}
			g.ReportFrom("volumegroupreplication-controller", claim, corev1.EventTypeWarning, "PersistentVolumeClaimDeletionBlocked", "deleting PersistentVolumeClaim",
				fmt.Sprintf("PersistentVolumeClaim is part of the group(%s/%s) using matching label selector. Remove label from PersistentVolumeClaim (%s/%s) to allow deletion",
					g.group.Namespace, g.group.Name, claim.Namespace, claim.Name))
		}
		claims = append(claims, claim.DeepCopy())
	}
	if len(claims) > g.opts.MaxGroupClaims {
		return nil, fmt.Errorf("more than %d PVCs match the given selector", g.opts.MaxGroupClaims)
	}
	if text := selector.String(); g.group.Annotations[claimSelector] != text {
		g.annotate(claimSelector, text)
		return claims, kinds.Update(g.process, g.Component, g.group)
	}
	return claims, nil
}

func (g *groupPass) annotate(key, value string) {
	annotations := maps.Clone(g.group.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	g.group.Annotations = annotations
}

// adopt marks new claims, and releases claims that are no longer in the group. A-VGR-2
func (g *groupPass) adopt(claims []*corev1.PersistentVolumeClaim) (members []corev1.LocalObjectReference, err error) {
	before := g.group.Status.Claims
	for _, claim := range claims {
		member := corev1.LocalObjectReference{Name: claim.Name}
		members = append(members, member)
		if slices.Contains(before, member) {
			continue
		}
		if err := g.claimFor(g.process, claim, ownerGroup, g.group.Name); err != nil {
			return nil, err
		}
		if err := g.protectClaim(g.process, claim, groupFinalizer); err != nil {
			return nil, err
		}
	}
	for _, member := range before {
		if slices.Contains(members, member) {
			continue
		}
		if err := g.letGo(member.Name); err != nil {
			return nil, err
		}
	}
	return members, nil
}

func (g *groupPass) letGo(name string) error {
	key := store.Key{Namespace: g.group.Namespace, Name: name}
	claim, ok := component.Cached[*corev1.PersistentVolumeClaim](g.Component, key)
	if !ok {
		return kinds.NotCached(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), key)
	}
	return g.disownClaim(g.process, claim.DeepCopy(), ownerGroup, groupFinalizer)
}

// handles returns the handles of the claims' volumes, sorted. A-VGR-2, A-VGR-3
func (g *groupPass) handles(claims []*corev1.PersistentVolumeClaim) ([]string, error) {
	all := []string{}
	for _, claim := range claims {
		key := store.Key{Name: claim.Spec.VolumeName}
		volume, ok := component.Cached[*corev1.PersistentVolume](g.Component, key)
		switch {
		case !ok:
			return nil, kinds.NotCached(corev1.SchemeGroupVersion.WithKind("PersistentVolume"), key)
		case volume.Spec.CSI == nil:
			return nil, fmt.Errorf("pvc %s is not bound to a CSI PV", claim.Name)
		case volume.Spec.CSI.Driver != g.class.Spec.Provisioner:
			return nil, fmt.Errorf("driver (%s) of PV for PVC %s is different than the VolumeGroupReplicationClass driver (%s)", claim.Name, volume.Spec.CSI.Driver, g.class.Spec.Provisioner)
		}
		all = append(all, volume.Spec.CSI.VolumeHandle)
	}
	slices.Sort(all)
	return all, nil
}

// noteMembers writes the list of claims if it has changed. Like the real controller, it looks for
// the driver's copies in an object that was not read, so it never finds any if there are claims.
// A-VGR-7
func (g *groupPass) noteMembers(members []corev1.LocalObjectReference, claims int) error {
	leader, err := g.leader(g.class.Spec.Provisioner)
	if err != nil {
		return err
	}
	if leader.can("volume_replication.GET_REPLICATION_DESTINATION_INFO") {
		status, reason, message := metav1.ConditionTrue, "DestinationInfoUpdated", "volume group destination info is available"
		if claims > 0 {
			status, reason, message = metav1.ConditionFalse, "DestinationInfoPending", "volume group destination info is pending update"
		}
		setCondition(&g.group.Status.ReplicationStatus, g.group.Generation, g.process.Now(), destination, status, reason, message)
	}
	if len(members) > 0 && slices.Equal(g.group.Status.Claims, members) {
		return nil // the status has no empty list, so an empty list never equals it
	}
	g.group.Status.Claims = members
	return kinds.UpdateStatus(g.process, g.Component, g.group)
}

func (g *groupPass) ref() string { return g.group.Namespace + "/" + g.group.Name }

func (g *groupPass) referenceToGroup() *corev1.ObjectReference {
	r := referenceTo(g.group)
	r.ResourceVersion = ""
	return r
}

// makeContent creates the content, or updates it. A content that the user has named must exist.
// A-VGR-3
func (g *groupPass) makeContent(handles []string) (*kinds.GroupContent, error) {
	name := cmp.Or(g.group.Spec.ContentName, "vgrcontent-"+string(g.group.UID))
	there, err := kinds.Get[kinds.GroupContent](g.Component, store.Key{Name: name})
	switch {
	case apierrors.IsNotFound(err):
		return g.newContent(name, handles)
	case err != nil:
		return nil, err
	}
	content := *there
	content.Annotations = maps.Clone(there.Annotations)
	metav1.SetMetaDataAnnotation(&content.ObjectMeta, groupRef, g.ref())
	metav1.SetMetaDataAnnotation(&content.ObjectMeta, provisionedBy, g.class.Spec.Provisioner)
	if content.Spec.Ref == nil {
		content.Spec.Ref = g.referenceToGroup()
	}
	content.Spec.Source.VolumeHandles = handles
	if reflect.DeepEqual(&content, there) {
		return there, nil
	}
	return &content, kinds.Update(g.process, g.Component, &content)
}

func (g *groupPass) newContent(name string, handles []string) (*kinds.GroupContent, error) {
	if g.group.Spec.ContentName != "" {
		return nil, fmt.Errorf("dependent VGRContent resource is not yet created, waiting for it to be created")
	}
	content := &kinds.GroupContent{}
	content.Name = name
	content.Annotations = map[string]string{groupRef: g.ref()}
	if s := groupSecretOf(g.class); s.Name != "" && s.Namespace != "" {
		content.Annotations[groupSecret], content.Annotations[groupSecretFrom] = s.Name, s.Namespace
	}
	content.Spec.Ref, content.Spec.Provisioner, content.Spec.ClassName = g.referenceToGroup(), g.class.Spec.Provisioner, g.group.Spec.ClassName
	content.Spec.Source.VolumeHandles = handles
	return content, kinds.Create(g.process, g.Component, content)
}

func groupSecretOf(class *kinds.GroupReplicationClass) relay.Secret {
	return relay.Secret{Name: class.Spec.Parameters[groupSecret], Namespace: class.Spec.Parameters[groupSecretFrom]}
}

// makeReplication creates the VolumeReplication of the group, or updates it. A-VGR-6
func (g *groupPass) makeReplication() (*kinds.VolumeReplication, error) {
	name := cmp.Or(g.group.Spec.ReplicationName, "vr-"+string(g.group.UID))
	there, err := kinds.Get[kinds.VolumeReplication](g.Component, store.Key{Namespace: g.group.Namespace, Name: name})
	replication := kinds.VolumeReplication{}
	switch {
	case err == nil:
		replication = *there
	case !apierrors.IsNotFound(err):
		return nil, err
	default:
		group := replicationFinalizer
		replication.Name, replication.Namespace = name, g.group.Namespace
		replication.Annotations = map[string]string{groupRef: g.ref()}
		replication.Spec.VolumeReplicationClass = g.group.Spec.ReplicationClassName
		replication.Spec.DataSource = corev1.TypedLocalObjectReference{APIGroup: &group, Kind: groupSource, Name: g.group.Name}
	}
	replication.Spec.AutoResync, replication.Spec.ReplicationState = g.group.Spec.AutoResync, g.group.Spec.ReplicationState
	replication.OwnerReferences = withOwner(replication.OwnerReferences, g.group)
	switch {
	case there == nil:
		return &replication, kinds.Create(g.process, g.Component, &replication)
	case reflect.DeepEqual(&replication, there):
		return there, nil
	}
	return &replication, kinds.Update(g.process, g.Component, &replication)
}

// withOwner adds an owner that is not a controller.
func withOwner(owners []metav1.OwnerReference, obj kinds.Object) []metav1.OwnerReference {
	if slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return o.UID == obj.GetUID() }) {
		return owners
	}
	version, kind := obj.Of().ToAPIVersionAndKind()
	return append(slices.Clone(owners), metav1.OwnerReference{APIVersion: version, Kind: kind, Name: obj.GetName(), UID: obj.GetUID()})
}

// remove deletes the VolumeReplication and the content in one pass. The group loses its finalizer
// when neither exists any more. A-VGR-10
func (g *groupPass) remove() error {
	if name := g.group.Spec.ReplicationName; name != "" {
		key := store.Key{Namespace: g.group.Namespace, Name: name}
		replication, err := kinds.Get[kinds.VolumeReplication](g.Component, key)
		if err == nil {
			before, isNew := g.overlaps.begun[key], replication.DeletionTimestamp == nil
			if err = kinds.Delete(g.process, g.Component, replication); err == nil && isNew {
				g.overlaps.await(g.process, key, before)
			}
		} else {
			err = ignoreNotFound(err)
		}
		if err != nil {
			return err
		}
	}
	if name := g.group.Spec.ContentName; name != "" {
		content, err := kinds.Get[kinds.GroupContent](g.Component, store.Key{Name: name})
		if err == nil {
			err = kinds.Delete(g.process, g.Component, content)
		} else {
			err = ignoreNotFound(err)
		}
		if err != nil {
			return err
		}
	}
	if g.group.Annotations[ownerContent] != "" || g.group.Annotations[ownerReplication] != "" {
		return after(groupPause)
	}
	for _, member := range g.group.Status.Claims {
		if err := g.letGo(member.Name); err != nil {
			return err
		}
	}
	_ = g.release(g.process, g.group, groupFinalizer) // the next change of the group retries this
	return nil
}
