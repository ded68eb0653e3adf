package realcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/cmd/internal/deploy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

// listManaged selects what csisim has made.
var listManaged = labelled(deploy.ManagedBy + "=" + deploy.By)

func labelled(selector string) metav1.ListOptions { return metav1.ListOptions{LabelSelector: selector} }

// Install deploys a driver.
func (c *Cluster) Install(name string) error {
	i := slices.IndexFunc(c.options.Drivers, func(d deploy.Driver) bool { return d.Name == name })
	if i < 0 {
		return &sim.ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "there is no such driver"}
	}
	d := c.options.Drivers[i]
	for _, object := range deploy.Manifests(d, c.options.Deploy) {
		if _, isNode := object.(*appsv1.DaemonSet); isNode && d.Port > 0 {
			if err := c.awaitBackend(name); err != nil {
				return err
			}
		}
		u, m, err := c.prepared(object)
		if err == nil {
			_, _, err = c.applyAt(m.resource, u)
		}
		if err != nil {
			return environment(err, "deploy driver %s: apply %s", name, m)
		}
		c.own = append(c.own, m)
	}
	return nil
}

// awaitBackend waits for the controller plugin that node plugins need: a registrar that gets no answer within a second
// exits, and its next start waits 10 s, then longer.
func (c *Cluster) awaitBackend(driver string) error {
	return c.WaitFor("the controller plugin of "+driver+" to run", bootTime, func() bool {
		pods, err := c.pods(driver, "controller", "")
		return err == nil && len(pods) > 0
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
	return u, made{res.GVR, u.GetNamespace(), u.GetName()}, nil
}

// Uninstall is not possible yet.
func (c *Cluster) Uninstall(string) error { return errNotReal }

// Close takes away what the scenario and the drivers' deployment have made, in the opposite order.
func (c *Cluster) Close() error {
	defer c.end(context.Canceled)
	ctx, cancel := afterwards()
	defer cancel()
	c.pump()
	c.world.Trace.Close()
	err := errors.Join(c.readmitAll(ctx), c.remove(ctx, c.made))
	if err != nil {
		return environment(err, "take away what the scenario has made")
	}
	return environment(c.remove(ctx, c.own), "take away the drivers")
}

// remove deletes objects, the last first, and waits until they are gone.
func (c *Cluster) remove(ctx context.Context, all []made) error {
	none := int64(0)
	for _, m := range slices.Backward(all) {
		policy := metav1.DeletePropagationForeground
		options := metav1.DeleteOptions{PropagationPolicy: &policy}
		if c.dark[c.nodeOf(ctx, m)] {
			options.GracePeriodSeconds = &none
		}
		if err := c.at(m.resource, m.namespace).Delete(ctx, m.name, options); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete %s: %w", m, err)
		}
		if m.resource.Resource == "storageclasses" || m.resource.Resource == "namespaces" {
			continue
		}
		if err := c.gone(ctx, m); err != nil {
			return err
		}
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
	for {
		u, err := c.at(m.resource, m.namespace).Get(ctx, m.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err == nil && u.GetDeletionTimestamp() == nil:
			return nil // somebody has made it again
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
