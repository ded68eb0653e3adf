package kubeletaccess

import (
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/diff"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/world/store"
)

// Admit is the admission plugin NodeRestriction: it rejects writes of a kubelet that are not about
// its own node. [plugin/pkg/admission/noderestriction/admission.go Admit]
func (a *Authorizer) Admit(w apiserver.UserWrite) error {
	node, isNode := nodeOf(w.User.Username, w.User.Groups)
	if !isNode {
		return nil
	}
	if node == "" {
		return forbid(w, fmt.Errorf("could not determine node from user %q", w.User.Username))
	}
	r := restriction{a, node, w}
	if err := r.check(); err != nil {
		return forbid(w, err)
	}
	return nil
}

// forbid converts an error into a refusal, unless it is an API error.
func forbid(w apiserver.UserWrite, err error) error {
	if apierrors.IsNotFound(err) {
		return err
	}
	return apierrors.NewForbidden(w.Resource, w.Name, err)
}

// restriction is a write that a node makes.
type restriction struct {
	*Authorizer
	node string
	apiserver.UserWrite
}

func (r restriction) check() error {
	switch r.Resource.Group + "/" + r.Resource.Resource {
	case "/pods":
		return r.checkPod()
	case "/nodes":
		return r.checkNode()
	case "/persistentvolumeclaims":
		if r.Subresource != "status" {
			return errors.New("may only update PVC status")
		}
		return r.checkClaimStatus()
	case "/serviceaccounts":
		return r.checkToken()
	case "coordination.k8s.io/leases":
		return r.checkLease()
	case "storage.k8s.io/csinodes":
		if r.Name != r.node {
			return errors.New("can only access CSINode with the same name as the requesting node")
		}
	case "resource.k8s.io/resourceslices":
		return r.checkResourceSlice()
	case "certificates.k8s.io/certificatesigningrequests":
		return r.checkSigningRequest()
	}
	return nil
}

func (r restriction) checkLease() error {
	switch {
	case r.Namespace != corev1.NamespaceNodeLease:
		return fmt.Errorf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease)
	case r.Name != r.node:
		return errors.New("can only access node lease with the same name as the requesting node")
	}
	return nil
}

// checkResourceSlice leaves updates to the authorizer.
func (r restriction) checkResourceSlice() error {
	obj, doing := r.Object, "create"
	if r.Operation == admissionv1.Delete {
		obj, doing = r.Old, "delete"
	}
	slice, ok := obj.(*resourcev1.ResourceSlice)
	if r.Operation == admissionv1.Update || ok && slice.Spec.NodeName != nil && *slice.Spec.NodeName == r.node {
		return nil
	}
	return fmt.Errorf("can only %s ResourceSlice with the same NodeName as the requesting node", doing)
}

// checkClaimStatus permits a kubelet to write only the fields that an expansion changes.
func (r restriction) checkClaimStatus() error {
	if r.Operation != admissionv1.Update {
		return fmt.Errorf("unexpected operation %q", r.Operation)
	}
	old, was := r.Old.(*corev1.PersistentVolumeClaim)
	claim, is := r.Object.(*corev1.PersistentVolumeClaim)
	if !was || !is {
		return fmt.Errorf("unexpected type %T", r.Object)
	}
	before, after := withoutExpansion(old), withoutExpansion(claim)
	if !apiequality.Semantic.DeepEqual(before, after) {
		return fmt.Errorf("node %q is not allowed to update fields other than status.quantity and status.conditions: %v",
			r.node, diff.Diff(before, after))
	}
	return nil
}

func withoutExpansion(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	c := claim.DeepCopy()
	c.ResourceVersion, c.ManagedFields = "", nil
	c.Status.Capacity, c.Status.Conditions = nil, nil
	c.Status.AllocatedResourceStatuses, c.Status.AllocatedResources = nil, nil
	return c
}

// pod returns a pod of the namespace of the write.
func (r restriction) pod(name string) (*corev1.Pod, error) {
	key := store.Key{Namespace: r.Namespace, Name: name}
	if pod, ok := store.Get[*corev1.Pod](r.store, key); ok {
		return pod, nil
	}
	return nil, store.NotFound[*corev1.Pod](key)
}
