package realcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/sim"
)

// maxLeft bounds the objects that an error names.
const maxLeft = 5

// Leftovers returns an error if an earlier run has left objects on a cluster, because the scenario
// would modify them or wait for them. Objects that are being deleted do not count. on is the
// cluster's name in --on.
func Leftovers(ctx context.Context, config *rest.Config, on string) error {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // old API versions are listed as well
	c, err := unwatched(ctx, config)
	if err != nil {
		return err
	}
	all, err := c.managed()
	if err != nil {
		return environment(err, "list the objects that csisim has made")
	}
	ending, err := c.ending()
	if err != nil {
		return environment(err, "list the namespaces of the cluster")
	}
	kinds := deploy.SnapshotKinds(deploy.Options{})
	all = slices.DeleteFunc(all, func(m made) bool { return m.ending || ending[m.namespace] || m.isAmong(kinds) })
	if len(all) == 0 {
		return nil
	}
	var names []string
	for _, m := range all[:min(len(all), maxLeft)] {
		names = append(names, m.inNamespace())
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return &sim.ConfigError{Subject: "--on " + on, Problem: fmt.Sprintf(
		"the cluster has objects of an earlier run that was killed, or of one that still runs: %s. 'csisim clean --on %s' deletes them", strings.Join(names, ", "), on)}
}

// isAmong reports whether an object has the name of one of the given objects. The kinds of
// snapshots and their controller stay on a cluster that csisim created.
func (m made) isAmong(objects []runtime.Object) bool {
	return slices.ContainsFunc(objects, func(object runtime.Object) bool {
		there, err := meta.Accessor(object)
		return err == nil && there.GetName() == m.name && there.GetNamespace() == m.namespace
	})
}

// ending returns the namespaces that are being deleted.
func (c *Cluster) ending() (map[string]bool, error) {
	list, err := c.clients.CoreV1().Namespaces().List(c.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, n := range list.Items {
		all[n.Name] = n.Status.Phase == corev1.NamespaceTerminating
	}
	return all, nil
}
