// Package clusterroleaggregation is the controller that fills cluster roles with an aggregation
// rule. They get the rules of all roles that the aggregation rule selects. (kubernetes v1.36.3,
// pkg/controller/clusterroleaggregation)
package clusterroleaggregation

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Controller is a running ClusterRole aggregation controller.
type Controller struct {
	*component.Component
	roles *workqueue.Queue[string]
}

// Start runs the controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("clusterrole-aggregation-controller", "")}
	c.roles = workqueue.New("cluster roles", workqueue.Default, c.Go, c.sync)
	c.Inform(component.Informers{
		News:    "changes of cluster roles",
		Sources: []component.Source{component.On(func(store.Event[*rbacv1.ClusterRole]) { c.enqueueAll() })},
	})
	return c
}

// enqueueAll queues all aggregated roles, because each change can affect each of them.
func (c *Controller) enqueueAll() {
	for role := range store.List[*rbacv1.ClusterRole](c.Cache, "") {
		if role.AggregationRule != nil {
			c.roles.Add(role.Name)
		}
	}
}

// sync writes the collected rules into a role.
func (c *Controller) sync(p *kernel.Process, name string) error {
	role, ok := component.Cached[*rbacv1.ClusterRole](c.Component, store.Key{Name: name})
	if !ok || role.AggregationRule == nil {
		return nil
	}
	rules := []rbacv1.PolicyRule{}
	for i := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return fmt.Errorf("reading selector %d of the aggregation rule: %w", i, err)
		}
		rules = c.gather(rules, selector, name)
	}
	if equality.Semantic.DeepEqual(rules, role.Rules) {
		return nil
	}
	role = role.DeepCopy()
	role.Rules = rules
	_, err := component.Update(p, c.Component, role)
	return err
}

// gather returns the rules of all roles that match a selector, except for one role, without
// repetitions.
func (c *Controller) gather(rules []rbacv1.PolicyRule, selector labels.Selector, but string) []rbacv1.PolicyRule {
	var selected []*rbacv1.ClusterRole
	for role := range store.List[*rbacv1.ClusterRole](c.Cache, "") {
		if role.Name != but && selector.Matches(labels.Set(role.Labels)) {
			selected = append(selected, role)
		}
	}
	slices.SortFunc(selected, func(a, b *rbacv1.ClusterRole) int { return strings.Compare(a.Name, b.Name) })
	for _, role := range selected {
		for _, rule := range role.Rules {
			known := func(r rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(r, rule) }
			if !slices.ContainsFunc(rules, known) {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}
