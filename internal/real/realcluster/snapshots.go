package realcluster

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/sim"
)

// Snapshots are the kinds of snapshots and their controller, on a cluster that lacked them.
type Snapshots struct {
	cluster *Cluster
	own     []made
}

// InstallSnapshots installs the kinds of snapshots and snapshot-controller, and waits until it
// runs. A cluster with the kinds is not changed.
func InstallSnapshots(ctx context.Context, config *rest.Config, o deploy.Options) (*Snapshots, error) {
	c, err := unwatched(ctx, config)
	if err != nil {
		return nil, err
	}
	s := &Snapshots{cluster: c}
	served, err := c.servesSnapshots()
	if err != nil {
		return nil, environment(err, "ask the cluster whether it has the kinds of snapshots")
	}
	if !served {
		for _, object := range deploy.SnapshotKinds(o) {
			if err := s.apply(object); err != nil {
				return nil, environment(errors.Join(err, s.Remove()), "install the kinds of snapshots")
			}
		}
	}
	if err := s.await(ctx); err != nil {
		return nil, environment(errors.Join(err, s.Remove()), "wait for the kinds of snapshots and %s", deploy.SnapshotController)
	}
	return s, nil
}

// unwatched returns a cluster without a mirror.
func unwatched(ctx context.Context, config *rest.Config) (*Cluster, error) {
	c := &Cluster{ctx: ctx}
	var err error
	if c.clients, err = kubernetes.NewForConfig(config); err == nil {
		c.dynamic, err = dynamic.NewForConfig(config)
	}
	if err != nil {
		return nil, &sim.EnvironmentError{Doing: "reach the cluster", Err: err}
	}
	c.kinds = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.clients.Discovery()))
	return c, nil
}

// servesSnapshots reports whether the API has the kinds of snapshots.
func (c *Cluster) servesSnapshots() (bool, error) {
	list, err := c.clients.Discovery().ServerResourcesForGroupVersion(snapshotv1.SchemeGroupVersion.String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && len(list.APIResources) > 0, err
}

func (s *Snapshots) apply(object runtime.Object) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: fields}
	m, err := s.cluster.placed(u)
	if err == nil {
		_, _, err = s.cluster.applyAt(m.resource, u)
	}
	if err == nil {
		s.own = append(s.own, m)
	}
	return err
}

// await waits until the API serves the kinds and, if csisim has installed it, the controller runs.
func (s *Snapshots) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	for {
		served, err := s.cluster.servesSnapshots()
		if served {
			served, err = s.controllerRuns(ctx)
		}
		if served {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(glance):
		}
	}
}

func (s *Snapshots) controllerRuns(ctx context.Context) (bool, error) {
	deployment, err := s.cluster.clients.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, deploy.SnapshotController, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil // the cluster has its own
	}
	return err == nil && deployment.Status.AvailableReplicas > 0, err
}

// Remove deletes the installed objects.
func (s *Snapshots) Remove() error {
	ctx, cancel := afterwards()
	defer cancel()
	return environment(s.cluster.remove(ctx, s.own), "delete the kinds of snapshots")
}
