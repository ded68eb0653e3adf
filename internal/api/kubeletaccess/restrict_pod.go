package kubeletaccess

import (
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/csisim/csisim/internal/world/store"
)

func (r restriction) checkPod() error {
	switch r.Subresource {
	case "status":
		return r.checkPodStatus()
	case "eviction":
		if r.Operation != admissionv1.Create {
			return fmt.Errorf("unexpected operation %s", r.Operation)
		}
		return r.checkPodIsOwn("node %s can only evict pods with spec.nodeName set to itself")
	case "":
	default:
		return fmt.Errorf("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", r.Subresource)
	}
	switch r.Operation {
	case admissionv1.Create:
		return r.checkMirrorPod()
	case admissionv1.Delete:
		return r.checkPodIsOwn("node %q can only delete pods with spec.nodeName set to itself")
	}
	return fmt.Errorf("unexpected operation %q, node %q can only create and delete mirror pods", r.Operation, r.node)
}

func (r restriction) checkPodIsOwn(refusal string) error {
	pod, err := r.pod(r.Name)
	if err != nil {
		return err
	}
	if pod.Spec.NodeName != r.node {
		return fmt.Errorf(refusal, r.node)
	}
	return nil
}

func (r restriction) checkPodStatus() error {
	if r.Operation != admissionv1.Update {
		return fmt.Errorf("unexpected operation %q", r.Operation)
	}
	old, was := r.Old.(*corev1.Pod)
	pod, is := r.Object.(*corev1.Pod)
	switch {
	case !was || !is:
		return fmt.Errorf("unexpected type %T", r.Object)
	case old.Spec.NodeName != r.node:
		return fmt.Errorf("node %q can only update pod status for pods with spec.nodeName set to itself", r.node)
	case !labels.Equals(old.Labels, pod.Labels):
		return fmt.Errorf("node %q cannot update labels through pod status", r.node)
	case !apiequality.Semantic.DeepEqual(old.Status.ResourceClaimStatuses, pod.Status.ResourceClaimStatuses):
		return fmt.Errorf("node %q cannot update resource claim statues", r.node)
	case !apiequality.Semantic.DeepEqual(old.Status.ExtendedResourceClaimStatus, pod.Status.ExtendedResourceClaimStatus):
		return fmt.Errorf("node %q cannot update extended resource claim status", r.node)
	}
	return nil
}

// checkMirrorPod permits a kubelet to create the mirror pods of its static manifests, but no other
// pods. A pod gives its kubelet access to the objects that the pod names.
func (r restriction) checkMirrorPod() error {
	pod, ok := r.Object.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("unexpected type %T", r.Object)
	}
	if _, isMirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; !isMirror {
		return fmt.Errorf("pod does not have %q annotation, node %q can only create mirror pods", corev1.MirrorPodAnnotationKey, r.node)
	}
	if pod.Spec.NodeName != r.node {
		return fmt.Errorf("node %q can only create pods with spec.nodeName set to itself", r.node)
	}
	if err := r.checkOwner(pod); err != nil {
		return err
	}
	kinds, err := referenced(pod)
	if err != nil {
		return fmt.Errorf("error checking mirror pod for API references: %w", err)
	}
	if kinds != "" {
		return fmt.Errorf("node %q can not create pods that reference %s", r.node, kinds)
	}
	return nil
}

// checkOwner requires that the node owns the pod.
func (r restriction) checkOwner(pod *corev1.Pod) error {
	switch len(pod.OwnerReferences) {
	case 0:
		return fmt.Errorf("node %q can only create pods with an owner reference set to itself", r.node)
	case 1:
	default:
		return fmt.Errorf("node %q can only create pods with a single owner reference set to itself", r.node)
	}
	owner := pod.OwnerReferences[0]
	switch {
	case owner.APIVersion != "v1" || owner.Kind != "Node" || owner.Name != r.node:
		return fmt.Errorf("node %q can only create pods with an owner reference set to itself", r.node)
	case owner.Controller == nil || !*owner.Controller:
		return fmt.Errorf("node %q can only create pods with a controller owner reference set to itself", r.node)
	case owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion:
		return fmt.Errorf("node %q must not set blockOwnerDeletion on an owner reference", r.node)
	}
	node, ok := store.Get[*corev1.Node](r.store, store.Key{Name: r.node})
	switch {
	case !ok:
		return store.NotFound[*corev1.Node](store.Key{Name: r.node})
	case owner.UID != node.UID:
		return fmt.Errorf("node %s UID mismatch: expected %s got %s", r.node, owner.UID, node.UID)
	}
	return nil
}

// referenced returns the kind of an object to which a pod refers, empty for none. [pkg/api/pod
// HasAPIObjectReference]
func referenced(pod *corev1.Pod) (kinds string, err error) {
	switch {
	case pod.Spec.ServiceAccountName != "":
		return "serviceaccounts", nil
	case len(secretsOf(pod)) > 0:
		return "secrets", nil
	case len(configMapsOf(pod)) > 0:
		return "configmaps", nil
	case len(pod.Spec.ResourceClaims) > 0:
		return "resourceclaims", nil
	}
	for i := range pod.Spec.Volumes {
		if kinds, err := referencedBy(&pod.Spec.Volumes[i]); kinds != "" || err != nil {
			return kinds, err
		}
	}
	return "", nil
}

// referencedBy leaves out secrets and config maps, which have already been found.
func referencedBy(v *corev1.Volume) (kinds string, err error) {
	switch {
	case v.CSI != nil:
		return "csidrivers (via CSI volumes)", nil
	case v.Glusterfs != nil:
		return "endpoints (via glusterFS volumes)", nil
	case v.PersistentVolumeClaim != nil:
		return "persistentvolumeclaims", nil
	case v.Ephemeral != nil:
		return "persistentvolumeclaims (via ephemeral volumes)", nil
	case v.Projected == nil:
		return "", nil
	}
	for _, source := range v.Projected.Sources {
		switch {
		case source.ServiceAccountToken != nil:
			return "serviceaccounts (via projected volumes)", nil
		case source.ClusterTrustBundle != nil:
			return "clustertrustbundles", nil
		case source.PodCertificate != nil:
			return "podcertificates", nil
		case source.DownwardAPI == nil:
			return "", fmt.Errorf("unknown source for projected volume %q", v.Name)
		}
	}
	return "", nil
}
