package kind_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func deployment(changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "default"}}
	d.Spec.Selector, d.Spec.Template = kindtest.Template()
	for _, change := range changes {
		change(d)
	}
	return d
}

func inContainer(change func(*corev1.Container)) *appsv1.Deployment {
	return deployment(func(d *appsv1.Deployment) { change(&d.Spec.Template.Spec.Containers[0]) })
}

// The messages come from the validation of Kubernetes v1.36.3 for the same objects.
func TestInvalidWorkloadsAndRolesAreRejected(t *testing.T) {
	probe := func(handler corev1.ProbeHandler) *corev1.Probe { return &corev1.Probe{ProbeHandler: handler} }
	in := "spec.template.spec.containers[0]"
	for name, c := range map[string]struct {
		object store.Object
		told   string
	}{
		"no selector": {deployment(func(d *appsv1.Deployment) { d.Spec.Selector, d.Spec.Template.Labels = nil, nil }),
			"Deployment.apps \"d\" is invalid: [spec.selector: Required value, spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`]"},
		"an empty selector": {deployment(func(d *appsv1.Deployment) { d.Spec.Selector = &metav1.LabelSelector{} }),
			`Deployment.apps "d" is invalid: spec.selector: Invalid value: {}: empty selector is invalid for deployment`},
		"a selector for other pods": {deployment(func(d *appsv1.Deployment) { d.Spec.Template.Labels = map[string]string{"app": "y"} }),
			"Deployment.apps \"d\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"y\"}: `selector` does not match template `labels`"},
		"no image": {inContainer(func(c *corev1.Container) { c.Image = "" }),
			`Deployment.apps "d" is invalid: ` + in + `.image: Required value`},
		"pods that end": {deployment(func(d *appsv1.Deployment) { d.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever }),
			`Deployment.apps "d" is invalid: spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`},
		"a volume that is not there": {inContainer(func(c *corev1.Container) { c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}} }),
			`Deployment.apps "d" is invalid: ` + in + `.volumeMounts[0].name: Not found: "v"`},
		"a probe without a way": {inContainer(func(c *corev1.Container) { c.LivenessProbe = probe(corev1.ProbeHandler{}) }),
			`Deployment.apps "d" is invalid: ` + in + `.livenessProbe: Required value: must specify a handler type`},
		"a probe of no port": {inContainer(func(c *corev1.Container) {
			c.LivenessProbe = probe(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(0)}})
		}), `Deployment.apps "d" is invalid: ` + in + `.livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive`},
		"two ways to probe": {inContainer(func(c *corev1.Container) {
			c.ReadinessProbe = probe(corev1.ProbeHandler{Exec: &corev1.ExecAction{}, GRPC: &corev1.GRPCAction{Port: 1}})
		}), `Deployment.apps "d" is invalid: [` + in + `.readinessProbe.exec.command: Required value, ` + in + `.readinessProbe.grpc: Forbidden: may not specify more than 1 handler type]`},
		"a variable of nothing": {inContainer(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{}}} }),
			"Deployment.apps \"d\" is invalid: " + in + ".env[0].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"},
		"a variable of no field": {inContainer(func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.node"}}}}
		}), `Deployment.apps "d" is invalid: ` + in + `.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.node": error converting fieldPath: field label not supported: spec.node`},
		"mounts for the host by the unprivileged": {deployment(func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v"}}
			d.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v", MountPropagation: ptr.To(corev1.MountPropagationBidirectional)}}
		}), `Deployment.apps "d" is invalid: ` + in + `.volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`},
		"a path of no type": {deployment(func(d *appsv1.Deployment) {
			source := corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x/../y", Type: ptr.To(corev1.HostPathType("Folder"))}}
			d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}}
		}), `Deployment.apps "d" is invalid: [spec.template.spec.volumes[0].hostPath.path: Invalid value: "/x/../y": must not contain '..', ` +
			`spec.template.spec.volumes[0].hostPath.type: Unsupported value: "Folder": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"]`},
		"a port of no number": {inContainer(func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{Name: "Health"}} }),
			`Deployment.apps "d" is invalid: [` + in + `.ports[0].name: Invalid value: "Health": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), ` + in + `.ports[0].containerPort: Required value]`},
		"an account of nowhere": {&rbacv1.ClusterRoleBinding{ObjectMeta: kindtest.Named("b"), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"}, Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "a"}}},
			`ClusterRoleBinding.rbac.authorization.k8s.io "b" is invalid: subjects[0].namespace: Required value`},
		"a binding of a pod": {&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "default"}, RoleRef: rbacv1.RoleRef{Kind: "Pod"}, Subjects: []rbacv1.Subject{{Kind: "Robot", Name: "a"}}},
			`RoleBinding.rbac.authorization.k8s.io "b" is invalid: [roleRef.kind: Unsupported value: "Pod": supported values: "Role", "ClusterRole", roleRef.name: Required value, subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"]`},
		"a rule of nothing": {&rbacv1.ClusterRole{ObjectMeta: kindtest.Named("r"), Rules: []rbacv1.PolicyRule{{}}},
			`ClusterRole.rbac.authorization.k8s.io "r" is invalid: [rules[0].verbs: Required value: verbs must contain at least one value, rules[0].apiGroups: Required value: resource rules must supply at least one api group, rules[0].resources: Required value: resource rules must supply at least one resource]`},
	} {
		t.Run(name, func(t *testing.T) {
			s := kind.NewStore(store.Options{})
			res, err := store.ResourceOf(c.object)
			require.NoError(t, err)
			_, err = s.CreateObject(res, c.object)
			assert.EqualError(t, err, c.told)
		})
	}
}

func TestImmutableFieldsOfWorkloads(t *testing.T) {
	s := kind.NewStore(store.Options{})
	d := kindtest.Create(t, s, deployment())
	_, err := store.Modify(s, store.KeyOf(d), func(d *appsv1.Deployment) {
		d.Spec.Selector.MatchLabels["tier"], d.Spec.Template.Labels["tier"] = "a", "a"
	})
	assert.ErrorContains(t, err, `spec.selector: Invalid value: {"matchLabels":{"app":"x","tier":"a"}}: field is immutable`)
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default"}}
	set.Spec.Selector, set.Spec.Template = kindtest.Template()
	kindtest.Create(t, s, set)
	_, err = store.Modify(s, store.KeyOf(set), func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "other" })
	assert.ErrorContains(t, err, `StatefulSet.apps "s" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas'`)
	kindtest.Modify(t, s, store.KeyOf(set), func(s *appsv1.StatefulSet) { s.Spec.Replicas = ptr.To[int32](3) })
}

func TestInvalidCronJobsAreRejected(t *testing.T) {
	for says, c := range map[string]struct {
		change func(*batchv1.CronJobSpec)
		want   string
	}{
		"a schedule that is none": {func(s *batchv1.CronJobSpec) { s.Schedule = "at noon" }, `spec.schedule: Invalid value: "at noon": expected exactly 5 fields, found 2: [at noon]`},
		"a zone in the schedule":  {func(s *batchv1.CronJobSpec) { s.Schedule = "TZ=UTC @hourly" }, `cannot use TZ or CRON_TZ in schedule, use timeZone field instead`},
		"an unknown zone":         {func(s *batchv1.CronJobSpec) { s.TimeZone = new("Mars/Olympus") }, `spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus`},
		"an unknown policy":       {func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = "Queue" }, `spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"`},
		"pods that never end": {func(s *batchv1.CronJobSpec) { s.JobTemplate.Spec.Template.Spec.RestartPolicy = "Always" },
			`spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`},
	} {
		t.Run(says, func(t *testing.T) {
			job := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"}, Spec: batchv1.CronJobSpec{Schedule: "@hourly"}}
			_, job.Spec.JobTemplate.Spec.Template = kindtest.Template()
			job.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			c.change(&job.Spec)
			_, err := store.Create(kind.NewStore(store.Options{}), job)
			assert.ErrorContains(t, err, c.want)
		})
	}
}
