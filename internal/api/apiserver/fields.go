package apiserver

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/csisim/csisim/internal/world/store"
)

// ownFields are the labels of field selectors that a kind offers besides its name
// and namespace.
var ownFields = map[string]map[string]func(store.Object) string{
	"pods": {
		"spec.nodeName":            func(o store.Object) string { return o.(*corev1.Pod).Spec.NodeName },
		"spec.restartPolicy":       func(o store.Object) string { return string(o.(*corev1.Pod).Spec.RestartPolicy) },
		"spec.schedulerName":       func(o store.Object) string { return o.(*corev1.Pod).Spec.SchedulerName },
		"spec.serviceAccountName":  func(o store.Object) string { return o.(*corev1.Pod).Spec.ServiceAccountName },
		"spec.hostNetwork":         func(o store.Object) string { return strconv.FormatBool(o.(*corev1.Pod).Spec.HostNetwork) },
		"status.phase":             func(o store.Object) string { return string(o.(*corev1.Pod).Status.Phase) },
		"status.podIP":             func(o store.Object) string { return podIP(o.(*corev1.Pod)) },
		"status.podIPs":            func(o store.Object) string { return podIP(o.(*corev1.Pod)) },
		"status.nominatedNodeName": func(o store.Object) string { return o.(*corev1.Pod).Status.NominatedNodeName },
	},
	"nodes": {
		"spec.unschedulable": func(o store.Object) string { return strconv.FormatBool(o.(*corev1.Node).Spec.Unschedulable) },
	},
	"namespaces": {
		"status.phase": func(o store.Object) string { return string(o.(*corev1.Namespace).Status.Phase) },
	},
	"persistentvolumes": {
		"metadata.namespace": func(store.Object) string { return "" },
	},
	"services": {
		"spec.clusterIP": func(o store.Object) string { return o.(*corev1.Service).Spec.ClusterIP },
		"spec.type":      func(o store.Object) string { return string(o.(*corev1.Service).Spec.Type) },
	},
	"replicationcontrollers": {
		"status.replicas": func(o store.Object) string {
			return strconv.Itoa(int(o.(*corev1.ReplicationController).Status.Replicas))
		},
	},
	"replicasets.apps": {
		"status.replicas": func(o store.Object) string { return strconv.Itoa(int(o.(*appsv1.ReplicaSet).Status.Replicas)) },
	},
	"jobs.batch": {
		"status.successful": func(o store.Object) string { return strconv.Itoa(int(o.(*batchv1.Job).Status.Succeeded)) },
	},
	"certificatesigningrequests.certificates.k8s.io": {
		"spec.signerName": func(o store.Object) string { return o.(*certificatesv1.CertificateSigningRequest).Spec.SignerName },
	},
	"secrets": {
		"type": func(o store.Object) string { return string(o.(*corev1.Secret).Type) },
	},
	"events": {
		"involvedObject.kind":            func(o store.Object) string { return o.(*corev1.Event).InvolvedObject.Kind },
		"involvedObject.namespace":       func(o store.Object) string { return o.(*corev1.Event).InvolvedObject.Namespace },
		"involvedObject.name":            func(o store.Object) string { return o.(*corev1.Event).InvolvedObject.Name },
		"involvedObject.uid":             func(o store.Object) string { return string(o.(*corev1.Event).InvolvedObject.UID) },
		"involvedObject.apiVersion":      func(o store.Object) string { return o.(*corev1.Event).InvolvedObject.APIVersion },
		"involvedObject.resourceVersion": func(o store.Object) string { return o.(*corev1.Event).InvolvedObject.ResourceVersion },
		"involvedObject.fieldPath":       func(o store.Object) string { return o.(*corev1.Event).InvolvedObject.FieldPath },
		"reason":                         func(o store.Object) string { return o.(*corev1.Event).Reason },
		"reportingComponent":             func(o store.Object) string { return o.(*corev1.Event).ReportingController },
		"source":                         func(o store.Object) string { return eventSource(o.(*corev1.Event)) },
		"type":                           func(o store.Object) string { return o.(*corev1.Event).Type },
	},
}

func podIP(pod *corev1.Pod) string {
	if len(pod.Status.PodIPs) > 0 {
		return pod.Status.PodIPs[0].IP
	}
	return pod.Status.PodIP
}

func eventSource(e *corev1.Event) string {
	if e.Source.Component != "" {
		return e.Source.Component
	}
	return e.ReportingController
}

// settleFields checks that the kind offers all labels of a selector.
func (k *servedKind) settleFields(sel fields.Selector) (fields.Selector, error) {
	return sel.Transform(func(label, value string) (string, string, error) {
		switch label {
		case "metadata.name":
			return label, value, nil
		case "metadata.namespace":
			if k.res.Namespaced {
				return label, value, nil
			}
		}
		if _, ok := k.field(label); ok {
			return label, value, nil
		}
		return "", "", k.noSuchField(label)
	})
}

// field is how the value of a label is read.
func (k *servedKind) field(label string) (func(store.Object) string, bool) {
	if k.own == nil {
		if k.form != nil && k.form.fields != nil {
			label = k.form.fields(label)
		}
		value, ok := ownFields[k.res.String()][label]
		return value, ok
	}
	for _, f := range k.own.version.Spec.SelectableFields {
		if strings.TrimPrefix(f.JSONPath, ".") == label {
			path := fieldPath(label)
			return func(obj store.Object) string { return selected(obj, path) }, true
		}
	}
	return nil, false
}

func (k *servedKind) noSuchField(label string) error {
	if _, special := ownFields[k.res.String()]; special || k.own != nil {
		return badRequest("field label not supported: %s", label)
	}
	return badRequest("%q is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", label)
}

// fieldsOf are the values of an object's labels.
func (k *servedKind) fieldsOf(obj store.Object) fields.Fields {
	return objectFields{k, obj}
}

type objectFields struct {
	kind *servedKind
	obj  store.Object
}

func (f objectFields) Has(label string) bool { return true }

func (f objectFields) Get(label string) string {
	switch label {
	case "metadata.name":
		return f.obj.GetName()
	case "metadata.namespace":
		return f.obj.GetNamespace()
	}
	if value, ok := f.kind.field(label); ok {
		return value(f.obj)
	}
	panic(fmt.Sprintf("apiserver: %s have no field %q", f.kind.res, label)) // settleFields has refused it
}
