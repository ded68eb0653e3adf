package selinuxwarning

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/mock"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

const end = ". If both pods land on the same node, only one of them may access the volume."

// newCluster returns a cluster with the bound claims v and w, of a driver that mounts with labels.
func newCluster(t *testing.T) (*tc.Cluster, *Controller) {
	c := tc.New(t, kernel.Calm{}, mock.Options{})
	tc.Create(c, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: tc.Driver}, Spec: storagev1.CSIDriverSpec{SELinuxMount: ptr.To(true)}})
	c.Bound("v", "")
	c.Bound("w", "")
	controller := Start(c.World)
	c.Run(time.Second)
	return c, controller
}

// pod mounts a claim with a level. Without a level it has no SELinux options.
func pod(name, claim, level string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{},
		Containers:      []corev1.Container{{Name: "c", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}},
	}}
	if level != "" {
		p.Spec.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{Level: level}
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func recursively(p *corev1.Pod) {
	p.Spec.SecurityContext.SELinuxChangePolicy = ptr.To(corev1.SELinuxChangePolicyRecursive)
}

func conflicts(c *Controller) (n float64) {
	c.collect(func(_ string, value float64, _ ...string) { n += value })
	return n
}

// C-SEL-1
func TestPodsOfOneVolumeWithDifferentLabelsGetWarnings(t *testing.T) {
	c, controller := newCluster(t)
	tc.Create(c, pod("a", "v", "s0:c1,c2"))
	tc.Create(c, pod("b", "w", "s0:c3,c4"))
	c.Run(time.Second)
	assert.Empty(t, c.Events(0, trace.KubeEvent), "each has a volume of its own")
	tc.Create(c, pod("other", "v", "s0:c3,c4"))
	c.Run(time.Second)
	assert.Equal(t, []string{
		`SELinuxLabelConflict SELinuxLabel ":::s0:c3,c4" conflicts with pod a that uses the same volume as this pod with SELinuxLabel ":::s0:c1,c2"` + end,
		`SELinuxLabelConflict SELinuxLabel ":::s0:c1,c2" conflicts with pod other that uses the same volume as this pod with SELinuxLabel ":::s0:c3,c4"` + end,
	}, c.Events(0, trace.KubeEvent))
	assert.Contains(t, controller.Metrics.Lines(), `selinux_warning_controller_selinux_volume_conflict{property="SELinuxLabel",`+
		`pod1_namespace="default",pod1_name="a",pod1_value=":::s0:c1,c2",pod2_namespace="default",pod2_name="other",pod2_value=":::s0:c3,c4"} 1`)
	assert.EqualValues(t, 2, conflicts(controller))

	ended := tc.Get[*corev1.Pod](c, "default", "a")
	tc.ChangeStatus(c, ended, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	c.Run(time.Second)
	assert.Zero(t, conflicts(controller), "a pod that has ended conflicts with none")
	tc.Create(c, pod("again", "v", "s0:c1,c2"))
	c.Run(time.Second)
	assert.Len(t, c.Events(0, trace.KubeEvent), 4)
}

// C-SEL-1
func TestPodsOfOneVolumeWithDifferentPoliciesGetWarnings(t *testing.T) {
	c, _ := newCluster(t)
	tc.Create(c, pod("a", "v", "s0:c1,c2"))
	tc.Create(c, pod("b", "v", "s0:c1,c2", recursively))
	c.Run(time.Second)
	assert.Equal(t, []string{
		`SELinuxChangePolicyConflict SELinuxChangePolicy "Recursive" conflicts with pod a that uses the same volume as this pod with SELinuxChangePolicy "MountOption"` + end,
		`SELinuxChangePolicyConflict SELinuxChangePolicy "MountOption" conflicts with pod b that uses the same volume as this pod with SELinuxChangePolicy "Recursive"` + end,
		`SELinuxLabelConflict SELinuxLabel "" conflicts with pod a that uses the same volume as this pod with SELinuxLabel ":::s0:c1,c2"` + end,
		`SELinuxLabelConflict SELinuxLabel ":::s0:c1,c2" conflicts with pod b that uses the same volume as this pod with SELinuxLabel ""` + end,
	}, c.Events(0, trace.KubeEvent))
}

// Labels and policies count only where the driver mounts with labels. C-SEL-1
func TestADriverThatStartsToMountWithLabelsCausesConflicts(t *testing.T) {
	c, controller := newCluster(t)
	driver := tc.Get[*storagev1.CSIDriver](c, "", tc.Driver)
	mount := func(with bool) {
		tc.Change(c, driver, func(d *storagev1.CSIDriver) { d.Spec.SELinuxMount = &with })
		c.Run(time.Second)
	}
	mount(false)
	tc.Create(c, pod("a", "v", "s0:c1,c2"))
	tc.Create(c, pod("b", "v", "s0:c3,c4", recursively))
	c.Run(time.Second)
	assert.Empty(t, c.Events(0, trace.KubeEvent))
	mount(true)
	assert.EqualValues(t, 4, conflicts(controller))
	mount(false)
	assert.Zero(t, conflicts(controller))
}

// C-SEL-1
func TestAPodThatMountsAVolumeWithTwoLabelsIsWarned(t *testing.T) {
	c, controller := newCluster(t)
	tc.Create(c, pod("a", "v", "s0:c1,c2", func(p *corev1.Pod) {
		second := p.Spec.Containers[0].DeepCopy()
		second.Name, second.SecurityContext = "d", &corev1.SecurityContext{SELinuxOptions: &corev1.SELinuxOptions{Level: "s0:c5,c6"}}
		p.Spec.Containers = append(p.Spec.Containers, *second)
	}))
	c.Run(time.Millisecond)
	assert.Equal(t, []string{`MultipleSELinuxLabels Volume "data" is mounted twice with different SELinux labels inside this pod`}, c.Events(0, trace.KubeEvent))
	assert.Zero(t, conflicts(controller))
}

// Pods are processed again when their claim gets its volume. C-SEL-1
func TestPodsAreComparedWhenTheirVolumeIsBound(t *testing.T) {
	c, _ := newCluster(t)
	tc.Create(c, pod("a", "late", "s0:c1,c2"))
	tc.Create(c, pod("b", "late", "s0:c3,c4"))
	c.Run(time.Second)
	assert.Empty(t, c.Events(0, trace.KubeEvent))
	c.Bound("late", "")
	c.Run(time.Second)
	assert.Len(t, c.Events(0, trace.KubeEvent), 2)
}

// As in the real controller, parts with a default on the node match any value.
func TestWhichLabelsDiffer(t *testing.T) {
	for _, of := range []struct {
		a, b   string
		differ bool
	}{
		{"", "", false},
		{"", ":::s0:c1", true},
		{"u:r:t:s0:c1", "u:r:t:s0:c1", false},
		{"u:r:t:s0:c1", ":::s0:c1", false},
		{"u:r:t:s0:c1", "::t:s0:c1", false},
		{"u:r:t:s0:c1", "::x:s0:c1", true},
		{"u:r:t:s0:c1", "x:r:t:s0:c1", true},
		{"u:r:t:s0:c1", ":::s0:c2", true},
		{"u:r:t:", "", false},
	} {
		assert.Equal(t, of.differ, differ(of.a, of.b), "%q and %q", of.a, of.b)
		assert.Equal(t, of.differ, differ(of.b, of.a), "%q and %q", of.b, of.a)
	}
	assert.Empty(t, labelOf(&corev1.SELinuxOptions{}))
	assert.Equal(t, "::t:s0", labelOf(&corev1.SELinuxOptions{Type: "t", Level: "s0"}))
}

// Pods of other namespaces are not named. The real message also lacks this blank.
func TestPodsOfOtherNamespacesAreNotNamed(t *testing.T) {
	of := conflict{property: "SELinuxLabel", value: "a", otherValue: "b"}
	of.pod.Namespace, of.other.Namespace, of.other.Name = "one", "two", "secret"
	assert.Equal(t, `SELinuxLabel"a" conflicts with another pod that uses the same volume as this pod with a different SELinuxLabel`+end, of.message())
}

// These are the expectations of the e2e suite for the controller, in its cases with two pods. Its
// expectations for the kubelet are tested in fakekubelet. The access mode does not matter here.
// csimock-selinux-conflict-rwo-other, csimock-selinux-conflict-rwo-same-gate-on,
// csimock-selinux-conflict-rwo-other-gate-on, csimock-selinux-conflict-rwx-other-gate-on,
// csimock-selinux-conflict-rwop-other, csimock-selinux-conflict-rwop-other-both-mountoption,
// csimock-selinux-conflict-rwo-recursive-then-mountoption,
// csimock-selinux-conflict-rwx-other-both-recursive,
// csimock-selinux-conflict-rwx-mountoption-then-nil, csimock-selinux-conflict-rwx-both-mountoption,
// csimock-selinux-conflict-privileged-both-recursive,
// csimock-selinux-conflict-privileged-both-mountoption, csimock-selinux-conflict-first-succeeded,
// csimock-selinux-conflict-opt-out-rwo-labels, csimock-selinux-conflict-opt-out-rwx-labels,
// csimock-selinux-conflict-opt-out-rwx-policies
func TestWhichTwoPodsAreInConflict(t *testing.T) {
	const one, two, none = "s0:c0,c1", "s0:c98,c99", ""
	const recursive, mountOption, unset = corev1.SELinuxChangePolicyRecursive, corev1.SELinuxChangePolicyMountOption, corev1.PodSELinuxChangePolicy("")
	type of struct {
		level  string
		policy corev1.PodSELinuxChangePolicy
	}
	for name, tt := range map[string]struct {
		first, second of
		optOut, over  bool
		expected      []string
	}{
		"same label":                        {of{one, unset}, of{one, unset}, false, false, nil},
		"other label":                       {of{one, unset}, of{two, unset}, false, false, []string{"SELinuxLabel"}},
		"other label, both by mount option": {of{one, mountOption}, of{two, mountOption}, false, false, []string{"SELinuxLabel"}},
		"other label, both recursive":       {of{one, recursive}, of{two, recursive}, false, false, nil},
		"by default, then recursive":        {of{one, unset}, of{one, recursive}, false, false, []string{"SELinuxChangePolicy", "SELinuxLabel"}},
		"recursive, then by mount option":   {of{one, recursive}, of{one, mountOption}, false, false, []string{"SELinuxChangePolicy", "SELinuxLabel"}},
		"by mount option, then by default":  {of{one, mountOption}, of{one, unset}, false, false, nil},
		"both by mount option":              {of{one, mountOption}, of{one, mountOption}, false, false, nil},
		"privileged and not, recursive":     {of{none, recursive}, of{two, recursive}, false, false, nil},
		"privileged and not, mount option":  {of{none, mountOption}, of{two, mountOption}, false, false, []string{"SELinuxChangePolicy", "SELinuxLabel"}},
		"the first is over":                 {of{one, unset}, of{two, unset}, false, true, nil},
		"the driver opts out, other label":  {of{one, unset}, of{two, unset}, true, false, nil},
		"the driver opts out, other policy": {of{one, unset}, of{one, recursive}, true, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, controller := newCluster(t)
			if tt.optOut {
				driver := tc.Get[*storagev1.CSIDriver](c, "", tc.Driver)
				tc.Change(c, driver, func(d *storagev1.CSIDriver) { d.Spec.SELinuxMount = ptr.To(false) })
			}
			with := func(of of) func(*corev1.Pod) {
				return func(p *corev1.Pod) {
					if of.policy != unset {
						p.Spec.SecurityContext.SELinuxChangePolicy = &of.policy
					}
				}
			}
			first := tc.Create(c, pod("a", "v", tt.first.level, with(tt.first)))
			c.Run(time.Second)
			if tt.over {
				tc.ChangeStatus(c, first, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
				c.Run(time.Second)
			}
			tc.Create(c, pod("b", "v", tt.second.level, with(tt.second)))
			c.Run(time.Second)
			var expected, found []string
			for _, property := range tt.expected {
				expected = append(expected, property+" a b", property+" b a")
			}
			for _, of := range controller.uses.conflicts() {
				found = append(found, of.property+" "+of.pod.Name+" "+of.other.Name)
			}
			assert.ElementsMatch(t, expected, found)
			assert.Len(t, c.Events(0, trace.KubeEvent), len(expected))
		})
	}
}
