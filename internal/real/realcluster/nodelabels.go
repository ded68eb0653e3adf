package realcluster

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/store"
)

// undoAnnotation is on nodes that have labels of a scenario. It is the patch that gives a node its own back.
const undoAnnotation = "csisim.dev/undo"

// labelNodes gives the nodes the labels that the scenario has for them.
func (c *Cluster) labelNodes() error {
	for _, name := range c.options.Nodes {
		if err := c.labelNode(name); err != nil {
			return environment(err, "label node %s", name)
		}
	}
	return nil
}

func (c *Cluster) labelNode(name string) error {
	labels := c.options.NodeLabels[name]
	if len(labels) == 0 {
		return nil
	}
	node, err := c.clients.CoreV1().Nodes().Get(c.ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if undo := node.Annotations[undoAnnotation]; undo != "" { // of a run that was killed, or of this one
		if node, err = c.patchNode(c.ctx, name, []byte(undo)); err != nil {
			return err
		}
	}
	own := map[string]any{}
	for label := range labels { // into a map
		own[label] = nil
		if value, has := node.Labels[label]; has {
			own[label] = value
		}
	}
	undo := string(metadataPatch(own, map[string]any{undoAnnotation: nil}))
	_, err = c.patchNode(c.ctx, name, metadataPatch(labels, map[string]any{undoAnnotation: undo}))
	return err
}

// lacksLabels reports whether a node has lost labels of the scenario: a kubelet that starts removes those of zones.
func (c *Cluster) lacksLabels(node *corev1.Node) bool {
	for label, value := range c.options.NodeLabels[node.Name] { // any
		if node.Labels[label] != value {
			return true
		}
	}
	return false
}

// unlabelNodes gives the nodes their own labels back.
func (c *Cluster) unlabelNodes(ctx context.Context) error {
	nodes, err := c.clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, n := range nodes.Items {
		if undo := n.Annotations[undoAnnotation]; undo != "" && slices.Contains(c.options.Nodes, n.Name) {
			if _, err := c.patchNode(ctx, n.Name, []byte(undo)); err != nil {
				return err
			}
		}
	}
	return nil
}

// topologyLabels are those that kubelets have given the nodes for the run's drivers, by node. They stay when a driver goes.
func (c *Cluster) topologyLabels() map[string][]string {
	all := map[string][]string{}
	for _, name := range c.options.Nodes {
		info, ok := store.Get[*storagev1.CSINode](c.world.Store, store.Key{Name: name})
		if !ok {
			continue
		}
		for _, d := range info.Spec.Drivers {
			for _, key := range d.TopologyKeys {
				if _, had := c.labelled[name][key]; !had && c.driver(d.Name).Name != "" {
					all[name] = append(all[name], key)
				}
			}
		}
	}
	return all
}

// driverTopology are the labels that kubelets have given the nodes for drivers that csisim has deployed, by node. Those of
// Kubernetes' own domains may have been there before.
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
			if !slices.ContainsFunc(drivers.Items, func(d storagev1.CSIDriver) bool { return d.Name == on.Name }) {
				continue
			}
			for _, key := range on.TopologyKeys {
				domain, _, _ := strings.Cut(key, "/")
				if !strings.HasSuffix(domain, "kubernetes.io") && !strings.HasSuffix(domain, "k8s.io") {
					all[info.Name] = append(all[info.Name], key)
				}
			}
		}
	}
	return all, nil
}

// removeLabels takes labels off nodes.
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

// metadataPatch is a merge patch: null takes one away, and in place of a map all that are there.
func metadataPatch(labels, annotations any) []byte {
	text, _ := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels, "annotations": annotations}}) // of strings
	return text
}
