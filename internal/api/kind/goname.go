package kind

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// goNames encodes an API value under the names of its Go fields, including empty ones. The API
// server quotes values in this format.
type goNames struct{ value any }

var metadataPackage = reflect.TypeFor[metav1.ObjectMeta]().PkgPath()

// MarshalJSON implements json.Marshaler.
func (g goNames) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	err := writeGoNames(&out, reflect.ValueOf(g.value))
	return out.Bytes(), err
}

func writeGoNames(out *bytes.Buffer, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Invalid:
		out.WriteString("null")
		return nil
	case reflect.Pointer:
		if v.IsNil() {
			out.WriteString("null")
			return nil
		}
	case reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct {
			return writeGoSlice(out, v)
		}
	}
	if _, ok := v.Interface().(json.Marshaler); ok {
		return writeJSON(out, v)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return writeGoNames(out, v.Elem())
	case reflect.Struct:
		if v.Type().PkgPath() == metadataPackage { // the real server uses the same types for these
			return writeJSON(out, v)
		}
		return writeGoStruct(out, v)
	}
	return writeJSON(out, v)
}

func writeGoSlice(out *bytes.Buffer, v reflect.Value) error {
	for i := range v.Len() {
		out.WriteByte("[,"[min(i, 1)])
		if err := writeGoNames(out, v.Index(i)); err != nil {
			return err
		}
	}
	if v.Len() == 0 {
		out.WriteByte('[')
	}
	out.WriteByte(']')
	return nil
}

func writeGoStruct(out *bytes.Buffer, v reflect.Value) error {
	out.WriteString("{")
	begun := false
	separate := func() {
		if begun {
			out.WriteString(",")
		}
		begun = true
	}
	for _, f := range internalFields(v) {
		if f.name == "" { // an embedded field is replaced by its own fields
			var inner bytes.Buffer
			if err := writeJSON(&inner, f.value); err != nil {
				return err
			}
			if fields := bytes.Trim(inner.Bytes(), "{}"); len(fields) > 0 {
				separate()
				out.Write(inner.Bytes()[1 : inner.Len()-1])
			}
			continue
		}
		separate()
		fmt.Fprintf(out, "%q:", f.name)
		if err := writeGoNames(out, f.value); err != nil {
			return err
		}
	}
	out.WriteString("}")
	return nil
}

// namedField is a field; an embedded one has no name.
type namedField struct {
	name  string
	value reflect.Value
}

// orders lists the order of fields in internal types of the real server, if it differs from the
// order here.
var orders = map[reflect.Type]string{
	reflect.TypeFor[corev1.PersistentVolumeSource](): "GCEPersistentDisk AWSElasticBlockStore HostPath Glusterfs NFS RBD Quobyte ISCSI FlexVolume Cinder " +
		"CephFS FC Flocker AzureFile VsphereVolume AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO Local StorageOS CSI",
	reflect.TypeFor[corev1.VolumeSource](): "HostPath EmptyDir GCEPersistentDisk AWSElasticBlockStore GitRepo Secret NFS ISCSI Glusterfs " +
		"PersistentVolumeClaim RBD Quobyte FlexVolume Cinder CephFS Flocker DownwardAPI FC AzureFile ConfigMap VsphereVolume AzureDisk " +
		"PhotonPersistentDisk Projected PortworxVolume ScaleIO StorageOS CSI Ephemeral Image",
	reflect.TypeFor[corev1.PodSpec](): "Volumes InitContainers Containers EphemeralContainers RestartPolicy TerminationGracePeriodSeconds " +
		"ActiveDeadlineSeconds DNSPolicy NodeSelector ServiceAccountName AutomountServiceAccountToken NodeName SecurityContext ImagePullSecrets " +
		"Hostname Subdomain SetHostnameAsFQDN Affinity SchedulerName Tolerations HostAliases PriorityClassName Priority PreemptionPolicy " +
		"DNSConfig ReadinessGates RuntimeClassName Overhead EnableServiceLinks TopologySpreadConstraints OS SchedulingGates ResourceClaims " +
		"Resources HostnameOverride SchedulingGroup",
	reflect.TypeFor[podSecurity](): "HostNetwork HostPID HostIPC ShareProcessNamespace HostUsers SELinuxOptions WindowsOptions RunAsUser " +
		"RunAsGroup RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup FSGroupChangePolicy Sysctls SeccompProfile AppArmorProfile " +
		"SELinuxChangePolicy",
}

// podSecurity is the internal type of a pod's security context: it also has the namespaces that the
// pod shares with its node.
type podSecurity struct {
	HostNetwork, HostPID, HostIPC    bool
	ShareProcessNamespace, HostUsers *bool
	corev1.PodSecurityContext
}

// internalFields returns the fields of a struct in the order of the real server's internal type.
func internalFields(v reflect.Value) (fields []namedField) {
	names := strings.Fields(orders[v.Type()])
	if len(names) == 0 {
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case !f.Anonymous || f.Type.Kind() != reflect.Struct:
				fields = append(fields, namedField{f.Name, v.Field(i)})
			case f.Type.PkgPath() == metadataPackage:
				fields = append(fields, namedField{"", v.Field(i)})
			default:
				fields = append(fields, internalFields(v.Field(i))...)
			}
		}
		return fields
	}
	for _, name := range names {
		f := namedField{name, v.FieldByName(name)}
		if pod, ok := v.Interface().(corev1.PodSpec); ok && name == "SecurityContext" && pod.SecurityContext != nil {
			f.value = reflect.ValueOf(podSecurity{pod.HostNetwork, pod.HostPID, pod.HostIPC, pod.ShareProcessNamespace, pod.HostUsers, *pod.SecurityContext})
		}
		fields = append(fields, f)
	}
	return fields
}

func writeJSON(out *bytes.Buffer, v reflect.Value) error {
	encoded, err := json.Marshal(v.Interface())
	out.Write(encoded)
	return err
}
