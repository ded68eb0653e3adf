// Package deployment is the Deployment controller of the kube-controller-manager. It keeps a
// ReplicaSet for each template of a deployment, and moves the pods from the old sets to the new
// set. It does not support pausing.
package deployment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// revisionAnnotation numbers the templates of a deployment.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// Controller is a running Deployment controller.
type Controller struct {
	*component.Component
	deployments *workqueue.Queue[store.Key]
}

// Start runs the Deployment controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("deployment-controller", "")}
	c.deployments = workqueue.New("deployments", workqueue.Workers(5), c.Go, c.sync)
	c.Inform(component.Informers{
		News: "changes of deployments and their sets",
		Sources: []component.Source{
			component.On(func(e store.Event[*appsv1.Deployment]) { c.deployments.Add(store.KeyOf(e.Object)) }),
			component.On(func(e store.Event[*appsv1.ReplicaSet]) {
				if deployment, _, ok := workload.Owner(e.Object, "Deployment"); ok {
					c.deployments.Add(deployment)
				}
			}),
		},
	})
	return c
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	d, ok := component.Cached[*appsv1.Deployment](c.Component, key)
	if !ok || d.DeletionTimestamp != nil {
		return nil
	}
	r, err := c.rolloutOf(p, d)
	if err != nil {
		return err
	}
	if err := c.step(p, r); err != nil {
		return err
	}
	return c.writeStatus(p, r)
}

// rollout is a deployment with its sets.
type rollout struct {
	*appsv1.Deployment
	fresh *appsv1.ReplicaSet   // of its template
	old   []*appsv1.ReplicaSet // sets of former templates, the oldest first
}

// rolloutOf finds the sets of a deployment, and creates the set of its current template.
func (c *Controller) rolloutOf(p *kernel.Process, d *appsv1.Deployment) (*rollout, error) {
	r := &rollout{Deployment: d}
	revision := 0
	name := d.Name + "-" + workload.Hash(&d.Spec.Template)
	for set := range store.Indexed[*appsv1.ReplicaSet](c.Cache, store.OwnerUID, string(d.UID)) {
		if set.DeletionTimestamp != nil {
			continue
		}
		if set.Name == name {
			r.fresh = set
		} else {
			r.old = append(r.old, set)
			revision = max(revision, revisionOf(set))
		}
	}
	slices.SortStableFunc(r.old, func(a, b *appsv1.ReplicaSet) int { return cmp.Compare(revisionOf(a), revisionOf(b)) })
	if r.fresh != nil && revisionOf(r.fresh) > revision {
		return r, nil
	}
	next := strconv.Itoa(revision + 1)
	var err error
	isNew := r.fresh == nil
	if isNew {
		if r.fresh, err = component.Create(p, c.Component, setFor(d, name, next)); apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("the cache does not show replica set %s yet: %w", name, err)
		}
	} else { // back to a former template
		r.fresh, err = component.Patch(p, c.Component, store.KeyOf(r.fresh), func(set *appsv1.ReplicaSet) {
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, revisionAnnotation, next)
		})
	}
	if err != nil {
		return nil, err
	}
	// A write together with the spec would create a new generation.
	_, err = component.PatchStatus(p, c.Component, store.KeyOf(d), func(d *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, revisionAnnotation, next)
		if isNew && hasDeadline(d) {
			now := metav1.NewTime(c.Kernel.Now()).Rfc3339Copy()
			d.Status.Conditions = r.with(d.Status.Conditions, now, appsv1.DeploymentProgressing, corev1.ConditionTrue, setCreated, fmt.Sprintf("Created new replica set %q", name))
		}
	})
	return r, err
}

func revisionOf(set *appsv1.ReplicaSet) int {
	n, _ := strconv.Atoi(set.Annotations[revisionAnnotation]) // 0 if it has none
	return n
}

// setFor returns the set for a deployment's template, without pods.
func setFor(d *appsv1.Deployment, name, revision string) *appsv1.ReplicaSet {
	hash := name[len(d.Name)+1:]
	template := d.Spec.Template.DeepCopy()
	template.Labels = withHash(template.Labels, hash)
	selector := d.Spec.Selector.DeepCopy()
	selector.MatchLabels = withHash(selector.MatchLabels, hash)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: name, Labels: template.Labels,
			Annotations:     map[string]string{revisionAnnotation: revision},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(0)), MinReadySeconds: d.Spec.MinReadySeconds, Selector: selector, Template: *template},
	}
}

func withHash(labels map[string]string, hash string) map[string]string {
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	all[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	return all
}

func (c *Controller) writeStatus(p *kernel.Process, r *rollout) error {
	now := metav1.NewTime(c.Kernel.Now()).Rfc3339Copy()
	status := r.status(now)
	if equality.Semantic.DeepEqual(status, r.Status) {
		if after := r.look(&status, now.Time); after > 0 {
			c.deployments.AddAfter(store.KeyOf(r.Deployment), after)
		}
		return nil
	}
	changed := r.Deployment.DeepCopy()
	changed.Status = status
	_, err := component.UpdateStatus(p, c.Component, changed)
	return err
}
