package oracle

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/internal/world/store"
)

// generator changes objects at random.
type generator struct{ *rand.Rand }

// words are strings that are valid in some fields and invalid in others.
var words = []string{
	"", "a", "A", "-", "a_b", "a/b", "a.b", "a b", "/", "/a", "../a", "./a", "1", "0", "-1", "web", "data", "main", "default", "kube-system", "node-a",
	"disk.example.com", "example.com/a", "Example.com", "http", "Always", "Never", "OnFailure", "None", "In", "NotIn", "Exists", "DoesNotExist", "Gt",
	"Equal", "NoSchedule", "NoExecute", "Delete", "Retain", "Recycle", "Immediate", "WaitForFirstConsumer", "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
	"ReadWriteOncePod", "Block", "Filesystem", "File", "ReadWriteOnceWithFSType", "Persistent", "Ephemeral", "TCP", "UDP", "SCTP", "ClusterIP", "NodePort",
	"LoadBalancer", "ExternalName", "10.0.0.1", "10.0.0.0/24", "300.0.0.1", "::1", "Indexed", "NonIndexed", "Allow", "Forbid", "Replace", "RollingUpdate",
	"Recreate", "OnDelete", "Container", "Pod", "PersistentVolumeClaim", "Opaque", "kubernetes.io/tls", "kubernetes.io/hostname", "cpu", "memory", "storage",
	"requests.storage", "pods", "* * * * *", "Europe/Paris", "ClusterFirst", "Default", "DoNotSchedule", "ScheduleAnyway", "HTTP", "VolumeSnapshot",
	"snapshot.storage.k8s.io", "50%", "150%", "Localhost", "RuntimeDefault", "Unconfined", "Bidirectional", "HostToContainer", "OnRootMismatch", "Recursive", "MountOption",
	"PreemptLowerPriority", "IfNotPresent", "FailJob", "FailIndex", "Ignore", "Count", "DisruptionTarget", "True", "False", "Unknown", "Complete", "Failed",
	"SuccessCriteriaMet", "FailureTarget", "Suspended", "Local", "Cluster", "ClientIP", "IPv4", "IPv6", "SingleStack", "PreferDualStack", "RequireDualStack", "PreferClose", "VIP",
	"BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass", "IfHealthyBudget", "AlwaysAllow", "Normal", "Warning",
	"Bound", "Pending", "Available", "Released", "Lost", "Active", "Running", "Succeeded", "Ready", "Resizing", "0-3,5", "3,1", "count/jobs.batch", "limits.cpu", "services", "ephemeral-storage",
	"kubernetes.io/service-account-token", "kubernetes.io/dockerconfigjson", "kubernetes.io/basic-auth", "example.com/finalizer", "TerminatingOrFailed", "WhenScaled", "beta.kubernetes.io/os", "TerminateGracefully", "Parallel", "OrderedReady", "system-node-critical", strings.Repeat("a", 64), strings.Repeat("a", 254),
}

var numbers = []int64{-1, 0, 1, 2, 3, 10, 80, 100, 600, 1000, 65535, 65536, math.MaxInt32}

var quantities = []string{"-1", "0", "1", "100m", "1500m", "64Mi", "1Gi", "2Gi", "1e30", "0.5"}

var (
	quantityType = reflect.TypeFor[resource.Quantity]()
	timeType     = reflect.TypeFor[metav1.Time]()
	microType    = reflect.TypeFor[metav1.MicroTime]()
	metaType     = reflect.TypeFor[metav1.ObjectMeta]()
	typeMetaType = reflect.TypeFor[metav1.TypeMeta]()
	intOrString  = reflect.TypeFor[intstr.IntOrString]()
)

// mutate changes a part of a value, which must be settable.
func (g generator) mutate(v reflect.Value, depth int) {
	switch v.Type() {
	case quantityType:
		v.Set(reflect.ValueOf(resource.MustParse(quantities[g.IntN(len(quantities))])))
		return
	case intOrString:
		if g.IntN(2) == 0 {
			v.Set(reflect.ValueOf(intstr.FromInt32(int32(numbers[g.IntN(len(numbers))]))))
		} else {
			v.Set(reflect.ValueOf(intstr.FromString(words[g.IntN(len(words))])))
		}
		return
	case timeType:
		v.Set(reflect.ValueOf(metav1.Time{Time: g.time()}))
		return
	case microType:
		v.Set(reflect.ValueOf(metav1.MicroTime{Time: g.time()}))
		return
	case metaType:
		g.metadata(v.Addr().Interface().(*metav1.ObjectMeta))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
			g.mutate(v.Elem(), depth+1)
		} else if g.IntN(4) == 0 {
			v.SetZero()
		} else {
			g.mutate(v.Elem(), depth+1)
		}
	case reflect.Struct:
		g.field(v, depth)
	case reflect.Slice:
		g.list(v, depth)
	case reflect.Map:
		g.mapping(v, depth)
	case reflect.String:
		v.SetString(words[g.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(numbers[g.IntN(len(numbers))])
	}
}

// time returns a time or, in many cases, none. Few times are equal.
func (g generator) time() time.Time {
	return []time.Time{{}, store.Epoch, store.Epoch.Add(-time.Hour), store.Epoch.Add(100 * time.Hour)}[g.IntN(4)]
}

// past returns a time in the past with an age that does not change during a comparison. In rare
// cases it returns no time, or a time in the future.
func (g generator) past() metav1.Time {
	ages := []time.Duration{150*time.Minute + 20*time.Second, 75*time.Hour + 20*time.Minute, 9000 * time.Hour, -time.Hour}
	if g.IntN(10) == 0 {
		return metav1.Time{}
	}
	return metav1.NewTime(time.Now().Add(-ages[g.IntN(len(ages))]).Truncate(time.Second))
}

// object changes the fields of an object that users write. status changes its status if it has one.
func (g generator) object(obj store.Object) {
	for range 1 + g.IntN(3) {
		g.mutate(reflect.ValueOf(obj).Elem(), 0)
	}
}

func (g generator) status(obj store.Object) {
	status := reflect.ValueOf(obj).Elem().FieldByName("Status")
	if !status.IsValid() {
		return
	}
	for range 1 + g.IntN(3) {
		g.mutate(status, 1)
	}
}

// field changes one field of a struct, preferably one that is set.
func (g generator) field(v reflect.Value, depth int) {
	var set, all []int
	for i := range v.NumField() {
		if t := v.Field(i).Type(); t == typeMetaType || depth == 0 && v.Type().Field(i).Name == "Status" {
			continue
		}
		all = append(all, i)
		if !v.Field(i).IsZero() {
			set = append(set, i)
		}
	}
	if len(set) > 0 && g.IntN(3) > 0 {
		all = set
	}
	if len(all) > 0 {
		g.mutate(v.Field(all[g.IntN(len(all))]), depth+1)
	}
}

func (g generator) list(v reflect.Value, depth int) {
	switch n := v.Len(); {
	case n == 0 || g.IntN(5) == 0:
		element := reflect.New(v.Type().Elem()).Elem()
		g.mutate(element, depth+1)
		v.Set(reflect.Append(v, element))
	case g.IntN(6) == 0:
		v.Set(reflect.Append(v, v.Index(g.IntN(n)))) // twice the same
	case g.IntN(6) == 0:
		v.Set(v.Slice(0, n-1))
	default:
		g.mutate(v.Index(g.IntN(n)), depth+1)
	}
}

func (g generator) mapping(v reflect.Value, depth int) {
	if g.IntN(6) == 0 {
		v.SetZero()
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	g.mutate(key, depth+1)
	g.mutate(value, depth+1)
	v.SetMapIndex(key, value)
}

// metadata changes the fields of metadata that users write.
func (g generator) metadata(m *metav1.ObjectMeta) {
	word := func() string { return words[g.IntN(len(words))] }
	switch g.IntN(5) {
	case 0:
		m.Name = word()
	case 1:
		m.Labels = map[string]string{word(): word()}
	case 2:
		m.Annotations = map[string]string{word(): word()}
	case 3:
		m.Finalizers = []string{word()}
	case 4:
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: word(), Kind: word(), Name: word(), UID: "1"}}
	}
}
