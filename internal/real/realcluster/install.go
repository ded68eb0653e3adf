package realcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

// listManaged selects what csisim has made.
var listManaged = labelled(deploy.ManagedBy + "=" + deploy.By)

func labelled(selector string) metav1.ListOptions { return metav1.ListOptions{LabelSelector: selector} }

// Install deploys a driver that comes later, and waits until its plugins run.
func (c *Cluster) Install(name string) error {
	d := c.driver(name)
	switch {
	case d.Name == "":
		return &sim.ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "there is no such driver"}
	case !c.later[d.Name]:
		return &sim.ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "it is installed already"}
	}
	delete(c.later, d.Name)
	if err := c.deploy(d); err != nil {
		return err
	}
	lacks := ""
	err := c.WaitFor("the plugins of "+name+" to run", podTime, func() bool {
		lacks = c.lacksPlugin(d)
		return lacks == ""
	})
	if lacks != "" && err != nil {
		err = fmt.Errorf("%w: it lacks %s", err, lacks)
	}
	if err == nil {
		err = c.injectAgain(name, "", "")
	}
	if err != nil {
		return environment(err, "install driver %s", name)
	}
	return environment(c.calls.readNew(), "read the records of driver %s", name)
}

// lacksPlugin is a plugin of a driver that does not run yet; empty for none.
func (c *Cluster) lacksPlugin(d deploy.Driver) string {
	runs := func(part, node string) bool {
		there, err := c.proxies(c.ctx, d.Name, part, node)
		return err == nil && len(there) > 0
	}
	if d.HasController() && !runs("controller", "") {
		return "the controller plugin"
	}
	for _, node := range c.DriverNodes(d.Name) {
		if p := (sim.Plugin{Driver: d.Name, Node: node}); !c.evicted[p] && !runs("node", node) {
			return "the plugin on " + node
		}
	}
	return ""
}

// deploy applies a driver's manifests.
func (c *Cluster) deploy(d deploy.Driver) error {
	if d.Own != nil {
		return c.installOwn(d)
	}
	for _, object := range deploy.Manifests(d, c.options.Deploy) {
		if _, isNode := object.(*appsv1.DaemonSet); isNode && d.Port > 0 {
			if err := c.awaitBackend(d.Name); err != nil {
				return err
			}
		}
		u, m, err := c.prepared(object)
		if _, isDriver := object.(*storagev1.CSIDriver); isDriver { // its volumes are the run's
			if err := c.foreign(d, m); err != nil {
				return c.interruptedOr(err)
			}
		}
		if err == nil {
			_, _, err = c.applyAt(m.resource, u)
		}
		if err != nil {
			return environment(err, "deploy driver %s: apply %s", d.Name, m)
		}
		c.own = append(c.own, m)
	}
	return nil
}

// awaitEarlier waits until the namespace of an earlier run is gone, if it is on its way out: nothing can be made in it.
func (c *Cluster) awaitEarlier() error {
	ctx, cancel := context.WithTimeout(c.ctx, stopTime)
	defer cancel()
	space, err := c.clients.CoreV1().Namespaces().Get(ctx, c.namespace(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && space.DeletionTimestamp == nil {
		return nil
	}
	if err == nil {
		err = c.gone(ctx, made{resource: corev1.SchemeGroupVersion.WithResource("namespaces"), namespace: "", name: c.namespace()})
	}
	return environment(err, "wait for the end of an earlier run")
}

// unregisterTime is how long kubelets may take to see that the registrars of an earlier run are gone.
const unregisterTime = 15 * time.Second

// awaitUnregistered waits until no node has a driver of an earlier run any more, which would pass for this run's. A registration
// whose socket was left behind stays, and is this run's when its registrar takes the socket.
func (c *Cluster) awaitUnregistered(limit time.Duration) error {
	err := c.WaitFor("kubelets to let go of the drivers of an earlier run", limit, func() bool {
		return !slices.ContainsFunc(c.options.Drivers, func(d deploy.Driver) bool {
			return slices.ContainsFunc(c.options.Nodes, func(node string) bool { return c.IsInstalled(d.Name, node) })
		})
	})
	if stuck := (*sim.StuckError)(nil); errors.As(err, &stuck) {
		return nil
	}
	return err
}

// awaitBackend waits for the backend that node plugins need: a registrar that gets no answer within a second exits, and its
// next start waits 10 s, then longer.
func (c *Cluster) awaitBackend(driver string) error {
	return c.WaitFor("the backend of "+driver+" to run", bootTime, func() bool {
		pods, err := c.clients.CoreV1().Pods(metav1.NamespaceAll).List(c.ctx, c.podsOfRun(driver))
		return err == nil && slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return isRunning(pod, deploy.BackendContainer) })
	})
}

// prepared is an object as the API takes it.
func (c *Cluster) prepared(object runtime.Object) (*unstructured.Unstructured, made, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, made{}, err
	}
	u := &unstructured.Unstructured{Object: fields}
	res, ok := store.ResourceFor(u.GroupVersionKind())
	if !ok {
		return nil, made{}, fmt.Errorf("kind %s is unknown", u.GroupVersionKind())
	}
	return u, made{resource: res.GVR, namespace: u.GetNamespace(), name: u.GetName()}, nil
}

// Uninstall is not possible yet.
func (c *Cluster) Uninstall(string) error { return ErrNotReal }

// Close takes away what the scenario and the drivers' deployment have made, in the opposite order.
func (c *Cluster) Close() error {
	defer c.end(context.Canceled)
	ctx, cancel := afterwards()
	defer cancel()
	c.pump()
	c.world.Trace.Close()
	_ = c.ClearFaults("") // what cannot be reached has none any more
	err := errors.Join(c.revive(ctx), c.readmitAll(ctx), c.restoreNodes(ctx), c.remove(ctx, c.made), c.releaseVolumes(ctx))
	if err != nil {
		return environment(err, "take away what the scenario has made")
	}
	c.discardRecords(ctx)
	err = c.remove(ctx, c.own)
	c.discardLateRecords(ctx)
	return environment(errors.Join(err, c.removeLabels(ctx, c.topology)), "take away the drivers")
}

// remove deletes objects, the last first, and waits until they are gone.
func (c *Cluster) remove(ctx context.Context, all []made) error {
	for _, m := range slices.Backward(all) {
		if err := c.delete(ctx, m); err != nil {
			return err
		}
		if m.resource.Resource == "storageclasses" || m.resource.Resource == "namespaces" {
			continue
		}
		if err := c.goneOrAgain(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes an object and what it owns; on a node without power nobody would answer.
func (c *Cluster) delete(ctx context.Context, m made) error {
	policy := metav1.DeletePropagationForeground
	options := metav1.DeleteOptions{PropagationPolicy: &policy}
	if c.dark[c.nodeOf(ctx, m)] {
		options.GracePeriodSeconds = new(int64)
	}
	if err := c.at(m.resource, m.namespace).Delete(ctx, m.name, options); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", m, err)
	}
	return nil
}

func (c *Cluster) nodeOf(ctx context.Context, m made) string {
	if m.resource.Resource != "pods" {
		return ""
	}
	u, err := c.at(m.resource, m.namespace).Get(ctx, m.name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	name, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName")
	return name
}

// gone waits until an object is gone.
func (c *Cluster) gone(ctx context.Context, m made) error {
	return c.over(ctx, m, func(*unstructured.Unstructured) bool { return false })
}

// goneOrAgain waits until an object is gone, or another of its name was made.
func (c *Cluster) goneOrAgain(ctx context.Context, m made) error {
	return c.over(ctx, m, func(u *unstructured.Unstructured) bool { return u.GetDeletionTimestamp() == nil })
}

func (c *Cluster) over(ctx context.Context, m made, enough func(*unstructured.Unstructured) bool) error {
	for {
		u, err := c.at(m.resource, m.namespace).Get(ctx, m.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err == nil && enough(u):
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s is not gone after %v: %w", m, stopTime, errors.Join(err, finalizers(u)))
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func finalizers(u *unstructured.Unstructured) error {
	if u == nil || len(u.GetFinalizers()) == 0 {
		return nil
	}
	return fmt.Errorf("finalizers %v hold it", u.GetFinalizers())
}
