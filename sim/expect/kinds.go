package expect

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/sim/store"
)

// shortNames are what people call resources besides their plural and their kind.
var shortNames = map[string][]string{
	"pods":                        {"po"},
	"persistentvolumeclaims":      {"pvc"},
	"persistentvolumes":           {"pv"},
	"nodes":                       {"no"},
	"namespaces":                  {"ns"},
	"storageclasses":              {"sc"},
	"volumeattachments":           {"va"},
	"volumeattributesclasses":     {"vac"},
	"serviceaccounts":             {"sa"},
	"configmaps":                  {"cm"},
	"statefulsets":                {"sts"},
	"deployments":                 {"deploy"},
	"daemonsets":                  {"ds"},
	"replicasets":                 {"rs"},
	"volumesnapshots":             {"vs"},
	"volumesnapshotclasses":       {"vsclass"},
	"volumesnapshotcontents":      {"vsc"},
	"volumegroupsnapshots":        {"vgs"},
	"volumegroupsnapshotclasses":  {"vgsclass"},
	"volumegroupsnapshotcontents": {"vgsc"},
}

// KindNames finds resources by every name that kubectl takes.
var KindNames = func() map[string]*store.Resource {
	names := map[string]*store.Resource{}
	for _, res := range store.Resources() {
		for _, name := range namesOf(res) {
			names[name] = res
		}
	}
	return names
}()

// namesOf are the names of a resource, with its group if another is meant without.
func namesOf(res *store.Resource) []string {
	plural, kind := res.GVR.Resource, strings.ToLower(res.GVK.Kind)
	if known, _ := store.ResourceNamed(plural); known != res {
		return []string{res.String(), kind + "." + res.GVR.Group}
	}
	return append([]string{plural, kind}, shortNames[plural]...)
}

// KindList is every name of a resource, sorted.
func KindList() []string {
	var all []string
	for name := range KindNames {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// ResourceNamed finds a resource by any of its names, in any case.
func ResourceNamed(name string) (*store.Resource, bool) {
	res, ok := KindNames[strings.ToLower(name)]
	return res, ok
}

// Singular is how messages name a resource: pod, persistentvolumeclaim.
func Singular(res *store.Resource) string { return strings.ToLower(res.GVK.Kind) }
