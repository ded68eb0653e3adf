package apiserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

func init() {
	columnsOf["resourcequotas"] = []column{
		nameColumn,
		text("Request", func(q *corev1.ResourceQuota) string { return usedOf(q, false) }),
		text("Limit", func(q *corev1.ResourceQuota) string { return usedOf(q, true) }),
		ageColumn,
	}
}

// usedOf is how much a quota's namespace uses of its limits: of those of what containers
// may use at most, or of all others.
func usedOf(q *corev1.ResourceQuota, limits bool) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
		if strings.HasPrefix(string(name), "limits.") == limits {
			used, hard := q.Status.Used[name], q.Status.Hard[name]
			texts = append(texts, fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String()))
		}
	}
	return strings.Join(texts, ", ")
}
