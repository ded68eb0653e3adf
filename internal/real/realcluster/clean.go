package realcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/internal/real/deploy"
)

// Marker is the ConfigMap in kube-system of a cluster that csisim made. It exists as long as the
// cluster.
const Marker = "csisim-made-this-cluster"

// Clean deletes only objects with csisim's label: first those that use volumes, then the volumes,
// finally the drivers. It returns the deleted objects, and the nodes that keep records of calls
// because their proxy does not answer.
func Clean(ctx context.Context, config *rest.Config) (deleted, recordsOn []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // old API versions are listed as well
	c, err := unwatched(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	if err := c.wakeKubelets(ctx); err != nil {
		return nil, nil, environment(err, "start the kubelets of the nodes")
	}
	all, err := c.managed()
	if err != nil {
		return nil, nil, environment(err, "list the objects that csisim has made")
	}
	ofTopology, err := c.driverTopology(ctx)
	if err != nil {
		return nil, nil, environment(err, "look for labels of nodes that drivers have")
	}
	deleted, err = c.unmark(ctx)
	for _, stage := range []stage{users, volumes, drivers, spaces} {
		if err == nil {
			var gone []string
			gone, err = c.removeAtOnce(ctx, slices.DeleteFunc(slices.Clone(all), func(m made) bool { return stageOf(m) != stage }))
			deleted = append(deleted, gone...)
		}
		if err == nil && stage == volumes {
			var forced []string
			forced, err = c.volumesGone(ctx, all)
			for _, name := range forced {
				deleted = append(deleted, "persistentvolumes/"+name+", which its driver did not delete")
			}
		}
		if err == nil && stage == volumes { // the drivers have received their last calls
			var gone []string
			gone, recordsOn, err = c.discardAllRecords(ctx)
			for _, node := range gone {
				deleted = append(deleted, "the records of calls on nodes/"+node)
			}
		}
	}
	if err == nil {
		err = c.removeLabels(ctx, ofTopology)
	}
	for _, node := range slices.Sorted(maps.Keys(ofTopology)) {
		if err == nil {
			deleted = append(deleted, fmt.Sprintf("labels %s of nodes/%s, of a driver's topology", strings.Join(ofTopology[node], ", "), node))
		}
	}
	return deleted, recordsOn, environment(err, "delete the objects that csisim has made")
}

// removeAtOnce deletes objects, waits until none exists, and returns those that it has deleted.
func (c *Cluster) removeAtOnce(ctx context.Context, all []made) (gone []string, err error) {
	for _, m := range all {
		if err := c.delete(ctx, m); err != nil {
			return nil, err
		}
	}
	for _, m := range all {
		if err := c.gone(ctx, m); err != nil {
			return gone, err
		}
		gone = append(gone, m.inNamespace())
	}
	return gone, nil
}

// inNamespace names an object for messages.
func (m made) inNamespace() string {
	if m.namespace == "" {
		return m.String()
	}
	return m.String() + " in " + m.namespace
}

// stage groups objects that are deleted together.
type stage int

const (
	users   stage = iota // users of volumes: pods and their controllers
	volumes              // claims and snapshots
	drivers              // classes, drivers and their permissions
	spaces               // namespaces
)

func stageOf(m made) stage {
	switch m.resource.Resource {
	case "namespaces":
		return spaces
	case "persistentvolumeclaims", "persistentvolumes", "volumesnapshots", "volumesnapshotcontents":
		return volumes
	}
	if m.namespace == "" || strings.HasPrefix(m.namespace, deploy.Namespace) || m.ofDriver {
		return drivers
	}
	return users
}

// managed returns the objects of all resources that have the label, except those that the garbage
// collector deletes together with their owner.
func (c *Cluster) managed() (all []made, err error) {
	lists, err := c.clients.Discovery().ServerPreferredResources()
	if len(lists) == 0 {
		return nil, err // a group without an answer has no objects of csisim
	}
	lists = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists)
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			found, err := c.dynamic.Resource(version.WithResource(r.Name)).List(c.ctx, listManaged)
			if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", r.Name, err)
			}
			for _, u := range found.Items {
				if len(u.GetOwnerReferences()) == 0 && u.GetName() != Marker {
					all = append(all, made{resource: version.WithResource(r.Name), namespace: u.GetNamespace(), name: u.GetName(), ofDriver: u.GetLabels()[deploy.DriverLabel] != "", ending: u.GetDeletionTimestamp() != nil})
				}
			}
		}
	}
	return all, nil
}

// unmark removes the labels of nodes by which csisim keeps drivers away, and the labels of
// scenarios.
func (c *Cluster) unmark(ctx context.Context) (removed []string, err error) {
	nodes, err := c.clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, n := range nodes.Items {
		for _, label := range slices.Sorted(maps.Keys(n.Labels)) {
			if !strings.HasPrefix(label, deploy.AwayPrefix) {
				continue
			}
			if _, err := c.patchNode(ctx, n.Name, fmt.Appendf(nil, `{"metadata":{"labels":{%q:null}}}`, label)); err != nil {
				return removed, err
			}
			removed = append(removed, fmt.Sprintf("label %s of nodes/%s", label, n.Name))
		}
		if n.Annotations[undoAnnotation] != "" {
			if err := c.restoreNode(ctx, n.Name); err != nil {
				return removed, err
			}
			removed = append(removed, "the scenario's labels and taints of nodes/"+n.Name)
		}
	}
	return removed, nil
}
