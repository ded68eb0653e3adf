package sidecar

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const (
	createdBy   = "sidecar.csiaddons.openshift.io/createdByPodUID"
	lastUpdated = "sidecar.csiaddons.openshift.io/lastUpdatedAt"
)

// register announces the sidecar, and announces it again whenever the object is deleted. A failure
// ends the program. A-REG-6, A-REG-7
func (r *run) register(p *kernel.Process) {
	pod, driver := r.describe(p)
	p.Sleep(atOnce)
	r.goOn(p)
	node, err := r.node(p, pod, driver)
	if err == nil {
		err = r.announce(p, node)
	}
	if err != nil {
		r.fail(p)
	}
	res, _ := kinds.Resource(r.Component, node.Of())
	watch := component.WatchObjects(r.Component, p, res, store.ByKey(store.KeyOf(node)))
	for {
		for e, ok := watch.Next(); ok; e, ok = watch.Next() {
			if e.Type != store.Deleted {
				continue
			}
			if err := r.announce(p, node); err != nil {
				r.fail(p)
			}
		}
		p.Wait("its CSIAddonsNode to be deleted", func() bool { return watch.Len() > 0 })
	}
}

// announce writes the object, even if it exists. A-REG-4, A-REG-5
func (r *run) announce(p *kernel.Process, wanted *kinds.Node) error {
	node := *wanted
	node.Annotations = map[string]string{
		createdBy: wanted.Annotations[createdBy], lastUpdated: p.Now().UTC().Format(time.RFC3339),
	}
	there := &kinds.Node{}
	switch err := kinds.Live(p, r.Component, there, store.KeyOf(wanted)); {
	case apierrors.IsNotFound(err):
		return kinds.Create(p, r.Component, &node)
	case err != nil:
		return err
	case there.DeletionTimestamp != nil:
		return fmt.Errorf("CSIAddonsNode %s is being deleted", node.Name)
	}
	if there.Annotations == nil {
		there.Annotations = map[string]string{}
	}
	for _, key := range []string{createdBy, lastUpdated} {
		there.Annotations[key] = node.Annotations[key]
	}
	there.Spec, there.OwnerReferences = node.Spec, node.OwnerReferences
	return kinds.Update(p, r.Component, there)
}

// node returns the object that announces the sidecar. A-REG-1, A-REG-2, A-REG-3
func (r *run) node(p *kernel.Process, pod *corev1.Pod, driver string) (*kinds.Node, error) {
	if len(pod.OwnerReferences) == 0 {
		return nil, fmt.Errorf("pod %s/%s has no owner", pod.Namespace, pod.Name)
	}
	owner := pod.OwnerReferences[0]
	named := owner
	if owner.Kind == "ReplicaSet" {
		set, err := component.Live[*appsv1.ReplicaSet](p, r.Component, store.Key{Namespace: pod.Namespace, Name: owner.Name})
		if err != nil {
			return nil, err
		}
		if len(set.OwnerReferences) == 0 {
			return nil, fmt.Errorf("ReplicaSet %s/%s has no owner", set.Namespace, set.Name)
		}
		named = set.OwnerReferences[0]
		owner = metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	node := &kinds.Node{}
	node.Name, node.Namespace = nodeName(r.opts.NodeID, pod.Namespace, named.Kind, named.Name), pod.Namespace
	node.OwnerReferences = []metav1.OwnerReference{owner}
	node.Annotations = map[string]string{createdBy: string(pod.UID)}
	node.Spec.Driver.Name, node.Spec.Driver.NodeID = driver, r.opts.NodeID
	node.Spec.Driver.EndPoint = endpoint(pod.Name, pod.Namespace, r.opts.Port)
	return node, nil
}

// endpoint returns the address at which the controller reaches the sidecar. A-SIDE-4
func endpoint(pod, namespace string, port int) string {
	if namespace == "" {
		return fmt.Sprintf("pod://%s:%d", pod, port)
	}
	return fmt.Sprintf("pod://%s.%s:%d", pod, namespace, port)
}

const (
	longestName = 253
	kept        = 234 // characters of a truncated name
	hashDigits  = 16
)

// nodeName names the object after the owner of the pod. A-REG-2
func nodeName(nodeID, namespace, kind, owner string) string {
	kind = strings.ToLower(kind)
	name := fmt.Sprintf("%s-%s-%s-%s", nodeID, namespace, kind, owner)
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(nodeID + namespace + kind + owner))
	return name[:kept] + "-" + hex.EncodeToString(sum[:])[:hashDigits]
}
