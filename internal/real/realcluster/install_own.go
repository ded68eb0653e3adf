package realcluster

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/sim"
)

// installOwn applies a driver's own manifests. It fails if one of the objects exists and does not
// belong to csisim, because the run deletes them at the end.
func (c *Cluster) installOwn(d deploy.Driver) error {
	for _, object := range deploy.Manifests(d, c.options.Deploy) {
		u := object.(*unstructured.Unstructured) // manifests that were read are all unstructured
		m, err := c.placed(u)
		if err != nil {
			return c.interruptedOr(environment(err, "deploy driver %s: apply %s %s", d.Name, u.GetKind(), u.GetName()))
		}
		if err := c.foreign(d, m); err != nil {
			return c.interruptedOr(err)
		}
		if _, _, err := c.applyAt(m.resource, u); err != nil {
			return environment(err, "deploy driver %s: apply %s", d.Name, m)
		}
		c.own = append(c.own, m)
	}
	return nil
}

// interruptedOr returns the reason if the run was interrupted, otherwise err.
func (c *Cluster) interruptedOr(err error) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	return err
}

const (
	// definedTime bounds the time in which the API must serve a kind after its definition.
	definedTime = 10 * time.Second
	// discoverEvery is the interval of discovery meanwhile.
	discoverEvery = 500 * time.Millisecond
)

// placed finds the resource of an object, and sets its namespace: by default the default namespace
// for a namespaced resource, and none for others.
func (c *Cluster) placed(u *unstructured.Unstructured) (made, error) {
	gvk := u.GroupVersionKind()
	mapping, err := c.kinds.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		var asked time.Time
		_ = c.WaitFor("kind "+gvk.Kind+" to be served", definedTime, func() bool {
			if time.Since(asked) < discoverEvery {
				return false
			}
			asked = time.Now()
			c.kinds.Reset()
			mapping, err = c.kinds.RESTMapping(gvk.GroupKind(), gvk.Version)
			return err == nil
		}) // err reports it
	}
	if err != nil {
		return made{}, err
	}
	switch namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace; {
	case !namespaced:
		u.SetNamespace("") // as kubectl does
	case u.GetNamespace() == "":
		u.SetNamespace(metav1.NamespaceDefault)
	}
	return made{resource: mapping.Resource, namespace: u.GetNamespace(), name: u.GetName()}, nil
}

// foreign returns an error if an object exists without csisim's label. If it has the label and is
// being deleted for an earlier run, foreign waits for the end of the deletion, because the deletion
// would remove an object that is applied now.
func (c *Cluster) foreign(d deploy.Driver, m made) error {
	there, err := c.at(m.resource, m.namespace).Get(c.ctx, m.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return environment(err, "deploy driver %s: look for %s", d.Name, m)
	case there.GetLabels()[deploy.ManagedBy] != deploy.By:
		return &sim.ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: fmt.Sprintf("the cluster has %s already, which csisim did not make: delete that deployment of the driver first", m.inNamespace())}
	case there.GetDeletionTimestamp() == nil:
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, stopTime)
	defer cancel()
	return environment(c.gone(ctx, m), "deploy driver %s: wait for the end of an earlier run", d.Name)
}
