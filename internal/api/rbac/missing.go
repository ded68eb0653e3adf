package rbac

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Missing collects the lacking rules.
type Missing struct{ lacks []Lack }

// Add adds a missing rule, and reports whether it is new.
func (m *Missing) Add(l Lack) (isNew bool) {
	if slices.ContainsFunc(m.lacks, func(known Lack) bool { return known.holder() == l.holder() && known.What() == l.What() }) {
		return false
	}
	m.lacks = append(m.lacks, l)
	return true
}

// DropAllowed removes rules that the roles contain by now. If a program starts before its folder's
// roles are applied, its requests are refused, also on a real cluster. The folder itself lacks
// nothing.
func (m *Missing) DropAllowed(by *Authorizer) {
	m.lacks = slices.DeleteFunc(m.lacks, func(l Lack) bool { return by.Authorize(l.asked).Allowed })
}

// holder returns the holder of the missing rule: a role, or a service account without one.
func (l Lack) holder() string {
	switch {
	case l.Role.Kind == "Role":
		return fmt.Sprintf("Role %s in namespace %s lacks these rules", l.Role.Name, l.Where)
	case l.Role.Name != "":
		return fmt.Sprintf("ClusterRole %s lacks these rules", l.Role.Name)
	case l.Where == "":
		return fmt.Sprintf("no ClusterRoleBinding names service account %s of namespace %s, which needs a role with these rules", l.Account, l.Namespace)
	}
	return fmt.Sprintf("no binding names service account %s of namespace %s, which needs a role with these rules in namespace %s", l.Account, l.Namespace, l.Where)
}

// Manifest returns the missing rules for each role, as YAML to paste below its rules. It is empty
// if none is missing.
func (m *Missing) Manifest() string {
	sorted := slices.SortedStableFunc(slices.Values(m.lacks), func(a, b Lack) int { return cmp.Compare(a.holder(), b.holder()) })
	var text strings.Builder
	for len(sorted) > 0 {
		holder := sorted[0].holder()
		end := slices.IndexFunc(sorted, func(l Lack) bool { return l.holder() != holder })
		if end < 0 {
			end = len(sorted)
		}
		var rules []rbacv1.PolicyRule
		for _, l := range sorted[:end] {
			rules = append(rules, l.Rule)
		}
		fmt.Fprintf(&text, "# %s:\n", holder)
		for _, rule := range joined(rules) {
			text.WriteString(pasted(rule))
		}
		sorted = sorted[end:]
	}
	return text.String()
}

// pasted returns a rule in the usual form of manifests.
func pasted(rule rbacv1.PolicyRule) string {
	if len(rule.NonResourceURLs) > 0 {
		return fmt.Sprintf("- nonResourceURLs: %s\n  verbs: %s\n", flow(rule.NonResourceURLs), flow(rule.Verbs))
	}
	return fmt.Sprintf("- apiGroups: %s\n  resources: %s\n  verbs: %s\n", flow(rule.APIGroups), flow(rule.Resources), flow(rule.Verbs))
}

// flow returns a list in one line. Names of groups, resources and verbs need no quotes.
func flow(values []string) string {
	if slices.Equal(values, []string{""}) {
		return `[""]`
	}
	return "[" + strings.Join(values, ", ") + "]"
}
