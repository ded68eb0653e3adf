package clusterroleaggregation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
)

func rule(resource string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{resource}}
}

func role(name, tier string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}}, Rules: rules}
}

func gathering(name string, tiers ...string) *rbacv1.ClusterRole {
	r := role(name, "", rule("a rule written by hand"))
	r.AggregationRule = &rbacv1.AggregationRule{}
	for _, tier := range tiers {
		r.AggregationRule.ClusterRoleSelectors = append(r.AggregationRule.ClusterRoleSelectors, metav1.LabelSelector{MatchLabels: map[string]string{"tier": tier}})
	}
	return r
}

func TestAnAggregatedRoleHasTheRulesOfTheSelectedRoles(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	rules := func(name string) []rbacv1.PolicyRule {
		c.Run(time.Second)
		return testcluster.Get[*rbacv1.ClusterRole](c, "", name).Rules
	}
	testcluster.Create(c, gathering("all", "view", "edit"))
	assert.Empty(t, rules("all"), "rules of its own do not count")

	testcluster.Create(c, role("b", "view", rule("pods"), rule("nodes")))
	testcluster.Create(c, role("a", "view", rule("secrets")))
	testcluster.Create(c, role("c", "edit", rule("pods"), rule("events")))
	testcluster.Create(c, role("other", "admin", rule("leases")))
	assert.Equal(t, []rbacv1.PolicyRule{rule("secrets"), rule("pods"), rule("nodes"), rule("events")}, rules("all"), "by selector, then by name, each once")

	testcluster.Change(c, testcluster.Get[*rbacv1.ClusterRole](c, "", "a"), func(r *rbacv1.ClusterRole) { r.Labels["tier"] = "none" })
	assert.Equal(t, []rbacv1.PolicyRule{rule("pods"), rule("nodes"), rule("events")}, rules("all"))
}

func TestAnAggregatedRoleCanSelectAnotherOne(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	middle := gathering("middle", "low")
	middle.Labels["tier"] = "middle"
	testcluster.Create(c, gathering("top", "middle"))
	testcluster.Create(c, middle)
	testcluster.Create(c, role("low", "low", rule("pods")))
	c.Run(time.Second)
	assert.Equal(t, []rbacv1.PolicyRule{rule("pods")}, testcluster.Get[*rbacv1.ClusterRole](c, "", "top").Rules)
}
