package selinuxwarning

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// uses records which pods use a volume, and with which labels.
type uses struct {
	volumes map[string]*used
	ofPod   map[store.Key]map[string]bool // volumes
}

// used is a volume that pods use.
type used struct {
	driver    string
	pods      map[store.Key]use
	conflicts []conflict // the current conflicts, each from both sides
}

// use is a pod's SELinux label and policy for a volume.
type use struct {
	label  string // label of the mount; empty if files are labelled one by one
	policy corev1.PodSELinuxChangePolicy
}

// conflict is a property that prevents two pods from using a volume on one node, from the view of
// the first.
type conflict struct {
	property   string
	pod        store.Key
	value      string
	other      store.Key
	otherValue string
}

func newUses() uses { return uses{map[string]*used{}, map[store.Key]map[string]bool{}} }

// add enters a pod's use of a volume. It returns the resulting conflicts; none if the use is
// recorded already. The real controller processes the other pods in any order; here they are sorted
// by name.
func (u *uses) add(name, driver string, pod store.Key, now use) (found []conflict) {
	v := u.volumes[name]
	if v == nil {
		v = &used{driver: driver, pods: map[store.Key]use{}}
		u.volumes[name] = v
	}
	if was, ok := v.pods[pod]; ok && was == now {
		return nil
	}
	v.pods[pod] = now
	if u.ofPod[pod] == nil {
		u.ofPod[pod] = map[string]bool{}
	}
	u.ofPod[pod][name] = true
	for _, other := range slices.SortedFunc(maps.Keys(v.pods), byName) {
		then := v.pods[other]
		if then.policy != now.policy {
			found = append(found, both("SELinuxChangePolicy", pod, string(now.policy), other, string(then.policy))...)
		}
		if differ(then.label, now.label) {
			found = append(found, both("SELinuxLabel", pod, now.label, other, then.label)...)
		}
	}
	v.end(pod)
	v.conflicts = append(v.conflicts, found...)
	return found
}

// both returns a conflict from the view of each pod.
func both(property string, a store.Key, value string, b store.Key, other string) []conflict {
	return []conflict{{property, a, value, b, other}, {property, b, other, a, value}}
}

// end drops the conflicts of a pod.
func (v *used) end(pod store.Key) {
	v.conflicts = slices.DeleteFunc(v.conflicts, func(c conflict) bool { return c.pod == pod || c.other == pod })
}

// forget drops a pod that has ended.
func (u *uses) forget(pod store.Key) {
	// In any order: volumes are independent.
	for name := range u.ofPod[pod] {
		v := u.volumes[name]
		v.end(pod)
		if delete(v.pods, pod); len(v.pods) == 0 {
			delete(u.volumes, name)
		}
	}
	delete(u.ofPod, pod)
}

// podsOf returns the pods that use volumes of a driver.
func (u *uses) podsOf(driver string) []store.Key {
	found := map[store.Key]bool{}
	// In any order: they are sorted afterwards.
	for _, v := range u.volumes {
		if v.driver == driver {
			// In any order, too.
			for pod := range v.pods {
				found[pod] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), byName)
}

// conflicts returns all present conflicts.
func (u *uses) conflicts() (all []conflict) {
	for _, name := range slices.Sorted(maps.Keys(u.volumes)) {
		all = append(all, u.volumes[name].conflicts...)
	}
	return all
}

func byName(a, b store.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// message returns the exact text of the real controller, including its blanks. It does not name
// pods of other namespaces.
func (c conflict) message() string {
	const end = ". If both pods land on the same node, only one of them may access the volume."
	if c.pod.Namespace == c.other.Namespace {
		return fmt.Sprintf(`%s "%s" conflicts with pod %s that uses the same volume as this pod with %s "%s"`+end,
			c.property, c.value, c.other.Name, c.property, c.otherValue)
	}
	return fmt.Sprintf(`%s"%s" conflicts with another pod that uses the same volume as this pod with a different %s`+end,
		c.property, c.value, c.property)
}
