package realcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// undoAnnotation marks nodes that the scenario has changed. It records the original values.
const undoAnnotation = "csisim.dev/undo"

// undo holds a node's original values.
type undo struct {
	Labels map[string]*string `json:"labels,omitempty"` // of changed names; nil for none
	// Without those that Kubernetes itself adds and removes.
	Taints        []corev1.Taint `json:"taints,omitempty"`
	Unschedulable bool           `json:"unschedulable,omitempty"`
}

// furnishNodes adds the scenario's labels and taints to the nodes. It first undoes the changes of a
// killed run.
func (c *Cluster) furnishNodes() error {
	for _, name := range c.options.Nodes {
		err := c.restoreNode(c.ctx, name)
		if err == nil {
			err = c.furnishNode(name, c.options.NodeTaints[name]...)
		}
		if err != nil {
			return environment(err, "label and taint node %s", name)
		}
	}
	return nil
}

// furnishNode adds the scenario's labels and taints to a node.
func (c *Cluster) furnishNode(name string, taints ...corev1.Taint) error {
	labels := c.options.NodeLabels[name]
	if len(labels)+len(taints) == 0 {
		return nil
	}
	_, err := c.changeNode(c.ctx, name, func(n *corev1.Node) error {
		for label, value := range labels { // into a map
			metav1.SetMetaDataLabel(&n.ObjectMeta, label, value)
		}
		for _, t := range taints {
			n.Spec.Taints = append(slices.DeleteFunc(n.Spec.Taints, func(own corev1.Taint) bool { return own.MatchTaint(&t) }), t)
		}
		return nil
	})
	return err
}

// changeNode changes a node, which is restored at the end. It retries, since controllers also write
// nodes.
func (c *Cluster) changeNode(ctx context.Context, name string, change func(*corev1.Node) error) (changed *corev1.Node, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		n, err := c.clients.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		before := n.DeepCopy()
		if err := change(n); err != nil {
			return err
		}
		if err := remember(before, n); err != nil {
			return err
		}
		changed, err = c.clients.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{FieldManager: manager})
		return err
	})
	return changed, err
}

// remember saves the original values on a node before its first change.
func remember(before, after *corev1.Node) error {
	own := undo{Taints: slices.DeleteFunc(slices.Clone(before.Spec.Taints), isOfKubernetes), Unschedulable: before.Spec.Unschedulable}
	if text := before.Annotations[undoAnnotation]; text != "" {
		own = undo{}
		if err := json.Unmarshal([]byte(text), &own); err != nil {
			return fmt.Errorf("read annotation %s: %w", undoAnnotation, err)
		}
	}
	if own.Labels == nil {
		own.Labels = map[string]*string{}
	}
	for _, labels := range []map[string]string{before.Labels, after.Labels} {
		for label := range labels { // into a map
			value, had := before.Labels[label]
			_, known := own.Labels[label]
			if is, has := after.Labels[label]; known || had == has && value == is {
				continue
			}
			own.Labels[label] = nil
			if had {
				own.Labels[label] = &value
			}
		}
	}
	text, _ := json.Marshal(own) // of strings
	metav1.SetMetaDataAnnotation(&after.ObjectMeta, undoAnnotation, string(text))
	return nil
}

// isOfKubernetes reports whether Kubernetes itself sets a taint, from the state of the node.
func isOfKubernetes(t corev1.Taint) bool {
	return strings.HasPrefix(t.Key, "node.kubernetes.io/") && t.Key != corev1.TaintNodeOutOfService
}

// restoreNode restores the original values of a node.
func (c *Cluster) restoreNode(ctx context.Context, name string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		n, err := c.clients.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil || n.Annotations[undoAnnotation] == "" {
			return err
		}
		var own undo
		if err := json.Unmarshal([]byte(n.Annotations[undoAnnotation]), &own); err != nil {
			return fmt.Errorf("read annotation %s: %w", undoAnnotation, err)
		}
		for label, value := range own.Labels { // into a map
			if value == nil {
				delete(n.Labels, label)
			} else {
				metav1.SetMetaDataLabel(&n.ObjectMeta, label, *value)
			}
		}
		n.Spec.Taints = append(own.Taints, slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return !isOfKubernetes(t) })...)
		n.Spec.Unschedulable = own.Unschedulable
		delete(n.Annotations, undoAnnotation)
		_, err = c.clients.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{FieldManager: manager})
		return err
	})
}

// restoreNodes restores the original values of the scenario's nodes.
func (c *Cluster) restoreNodes(ctx context.Context) (err error) {
	for _, name := range c.options.Nodes {
		if failed := c.restoreNode(ctx, name); !apierrors.IsNotFound(failed) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// lacksLabels reports whether a node has lost labels of the scenario. A starting kubelet removes
// zone labels.
func (c *Cluster) lacksLabels(node *corev1.Node) bool {
	for label, value := range c.options.NodeLabels[node.Name] { // any
		if node.Labels[label] != value {
			return true
		}
	}
	return false
}

// noteTopology records the labels that a kubelet has given its node for the run's drivers. They
// outlast the driver.
func (c *Cluster) noteTopology(info *storagev1.CSINode) {
	for _, d := range info.Spec.Drivers {
		for _, key := range d.TopologyKeys {
			if _, had := c.labelled[info.Name][key]; !had && c.driver(d.Name).Name != "" && !slices.Contains(c.topology[info.Name], key) {
				c.topology[info.Name] = append(c.topology[info.Name], key)
			}
		}
	}
}

// labelsAnnotation is on the CSIDriver objects of csisim. It lists the labels of each node before
// the driver, so that Clean removes only the labels of the driver's topology.
const labelsAnnotation = "csisim.dev/node-labels"

// withLabels records the labels of the nodes on a CSIDriver object.
func (c *Cluster) withLabels(driver *unstructured.Unstructured) {
	had := map[string][]string{}
	for name, labels := range c.labelled { // JSON sorts them
		had[name] = slices.Sorted(maps.Keys(labels))
	}
	text, _ := json.Marshal(had) // of strings
	annotations := driver.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[labelsAnnotation] = string(text)
	driver.SetAnnotations(annotations)
}

// driverTopology returns the labels that kubelets have given the nodes for drivers that csisim has
// deployed, by node.
func (c *Cluster) driverTopology(ctx context.Context) (map[string][]string, error) {
	drivers, err := c.clients.StorageV1().CSIDrivers().List(ctx, listManaged)
	if err != nil {
		return nil, err
	}
	infos, err := c.clients.StorageV1().CSINodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, info := range infos.Items {
		for _, on := range info.Spec.Drivers {
			i := slices.IndexFunc(drivers.Items, func(d storagev1.CSIDriver) bool { return d.Name == on.Name })
			if i < 0 {
				continue
			}
			had := map[string][]string{}
			if err := json.Unmarshal([]byte(drivers.Items[i].Annotations[labelsAnnotation]), &had); err != nil || had[info.Name] == nil {
				// The program has not recorded the node's labels, so none is known to be the
				// driver's.
				continue
			}
			for _, key := range on.TopologyKeys {
				if !slices.Contains(had[info.Name], key) {
					all[info.Name] = append(all[info.Name], key)
				}
			}
		}
	}
	return all, nil
}

// removeLabels removes labels from nodes.
func (c *Cluster) removeLabels(ctx context.Context, of map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		gone := map[string]any{}
		for _, key := range of[name] {
			gone[key] = nil
		}
		if _, err := c.patchNode(ctx, name, metadataPatch(gone, map[string]any{})); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) patchNode(ctx context.Context, name string, patch []byte) (*corev1.Node, error) {
	return c.clients.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
}

// metadataPatch returns a merge patch. null removes a label or annotation, or all of them if it
// replaces the map.
func metadataPatch(labels, annotations any) []byte {
	// Maps of strings can be marshalled.
	text, _ := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels, "annotations": annotations}})
	return text
}
