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

// listManaged selects the objects that csisim has made.
var listManaged = labelled(deploy.ManagedBy + "=" + deploy.By)

func labelled(selector string) metav1.ListOptions { return metav1.ListOptions{LabelSelector: selector} }

// Install deploys a driver during the run, and waits until its plugins run.
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

// lacksPlugin returns a plugin of a driver that does not run yet; empty for none.
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
		if _, isDriver := object.(*storagev1.CSIDriver); isDriver { // its volumes belong to the run
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

// awaitEarlier waits until the namespace of an earlier run is deleted, if its deletion is in
// progress, because no object can be created in it.
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

// unregisterTime bounds the time in which kubelets must notice the end of an earlier run's
// registrars.
const unregisterTime = 15 * time.Second

// awaitUnregistered waits until no node lists a driver of an earlier run, which could be mistaken
// for this run's driver. A registration with an abandoned socket stays. It belongs to this run when
// its registrar replaces the socket.
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

// awaitBackend waits for the backend that node plugins need. A registrar exits if it gets no answer
// within a second, and the kubelet restarts it only after 10 s, later after longer delays.
func (c *Cluster) awaitBackend(driver string) error {
	return c.WaitFor("the backend of "+driver+" to run", bootTime, func() bool {
		pods, err := c.clients.CoreV1().Pods(metav1.NamespaceAll).List(c.ctx, c.podsOfRun(driver))
		return err == nil && slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return isRunning(pod, deploy.BackendContainer) })
	})
}

// prepared returns an object in the form that the API accepts.
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

// Close deletes the objects of the scenario and the drivers' deployment, in the opposite order.
func (c *Cluster) Close() error {
	defer c.end(context.Canceled)
	ctx, cancel := afterwards()
	defer cancel()
	c.pump()
	c.world.Trace.Close()
	_ = c.ClearFaults("") // an unreachable proxy has no faults any more
	err := errors.Join(c.revive(ctx), c.readmitAll(ctx), c.restoreNodes(ctx), c.remove(ctx, c.made), c.releaseVolumes(ctx))
	if err != nil {
		return environment(err, "delete the objects of the scenario")
	}
	c.discardRecords(ctx)
	err = c.remove(ctx, c.own)
	c.discardLateRecords(ctx)
	return environment(errors.Join(err, c.removeLabels(ctx, c.topology)), "delete the drivers")
}

// remove deletes objects, the last one first, and waits until they do not exist.
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

// delete deletes an object and the objects that it owns. On a node without power no kubelet would
// confirm the end, so the grace period is 0.
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

// gone waits until an object does not exist.
func (c *Cluster) gone(ctx context.Context, m made) error {
	return c.over(ctx, m, func(*unstructured.Unstructured) bool { return false })
}

// goneOrAgain waits until an object does not exist, or a new object with its name exists.
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
