package kind

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

func ports(at *field.Path, all []corev1.ContainerPort) field.ErrorList {
	var errs field.ErrorList
	var names []string
	for i, port := range all {
		at := at.Index(i)
		switch messages := utilvalidation.IsValidPortName(port.Name); {
		case port.Name == "":
		case len(messages) > 0:
			errs = append(errs, invalid(at.Child("name"), port.Name, messages)...)
		case slices.Contains(names, port.Name):
			errs = append(errs, field.Duplicate(at.Child("name"), port.Name))
		}
		names = append(names, port.Name)
		if port.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, invalid(at.Child("containerPort"), port.ContainerPort, utilvalidation.IsValidPortNum(int(port.ContainerPort)))...)
		}
		if port.HostPort != 0 {
			errs = append(errs, invalid(at.Child("hostPort"), port.HostPort, utilvalidation.IsValidPortNum(int(port.HostPort)))...)
		}
		errs = append(errs, oneOf(at.Child("protocol"), port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
	}
	return errs
}

func environment(at *field.Path, all []corev1.EnvVar) field.ErrorList {
	var errs field.ErrorList
	for i, v := range all {
		at := at.Index(i)
		if v.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, invalid(at.Child("name"), v.Name, utilvalidation.IsRelaxedEnvVarName(v.Name))...)
		}
		if v.ValueFrom != nil {
			errs = append(errs, valueFrom(at.Child("valueFrom"), v)...)
		}
	}
	return errs
}

// environmentFrom checks the config maps and secrets that a container imports as a whole.
func environmentFrom(at *field.Path, all []corev1.EnvFromSource) (errs field.ErrorList) {
	reference := func(at *field.Path, name string) field.ErrorList {
		if name == "" {
			return field.ErrorList{field.Required(at.Child("name"), "")}
		}
		return invalid(at.Child("name"), name, objectname.Subdomain(name, true))
	}
	for i, from := range all {
		list, at := at, at.Index(i)
		if from.Prefix != "" {
			errs = append(errs, invalid(at.Child("prefix"), from.Prefix, utilvalidation.IsRelaxedEnvVarName(from.Prefix))...)
		}
		if from.ConfigMapRef != nil {
			errs = append(errs, reference(at.Child("configMapRef"), from.ConfigMapRef.Name)...)
		}
		if from.SecretRef != nil {
			errs = append(errs, reference(at.Child("secretRef"), from.SecretRef.Name)...)
		}
		switch {
		case from.ConfigMapRef == nil && from.SecretRef == nil:
			errs = append(errs, field.Invalid(list, "", "must specify one of: `configMapRef` or `secretRef`"))
		case from.ConfigMapRef != nil && from.SecretRef != nil:
			errs = append(errs, field.Invalid(list, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

func valueFrom(at *field.Path, v corev1.EnvVar) field.ErrorList {
	var errs field.ErrorList
	sources := 0
	if ref := v.ValueFrom.FieldRef; ref != nil {
		sources++
		errs = append(errs, fieldPath(at.Child("fieldRef", "fieldPath"), ref.FieldPath)...)
	}
	if ref := v.ValueFrom.ResourceFieldRef; ref != nil {
		sources++
		errs = append(errs, resourceField(at.Child("resourceFieldRef"), ref)...)
	}
	if ref := v.ValueFrom.ConfigMapKeyRef; ref != nil {
		sources++
		errs = append(errs, keyOf(at.Child("configMapKeyRef"), ref.Name, ref.Key)...)
	}
	if ref := v.ValueFrom.SecretKeyRef; ref != nil {
		sources++
		errs = append(errs, keyOf(at.Child("secretKeyRef"), ref.Name, ref.Key)...)
	}
	if v.ValueFrom.FileKeyRef != nil {
		sources++
	}
	switch {
	case sources == 0:
		errs = append(errs, field.Invalid(at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case v.Value != "":
		errs = append(errs, field.Invalid(at, "", "may not be specified when `value` is not empty"))
	case sources > 1:
		errs = append(errs, field.Invalid(at, "", "may not have more than one field specified at a time"))
	}
	return errs
}

// fieldsOfEnv are the pod fields that a container's environment can contain.
var fieldsOfEnv = []string{
	"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
	"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
}

func fieldPath(at *field.Path, path string) field.ErrorList {
	name, _, ofMap := strings.Cut(path, "['")
	switch isMap := name == "metadata.labels" || name == "metadata.annotations"; {
	case path == "":
		return field.ErrorList{field.Required(at, "")}
	case isMap && !ofMap:
		return field.ErrorList{field.NotSupported(at, path, fieldsOfEnv)}
	case !isMap && !slices.Contains(fieldsOfEnv, path):
		return field.ErrorList{field.Invalid(at, path, "error converting fieldPath: field label not supported: "+path)}
	}
	return nil
}

// keyOf checks a reference to an entry of a config map or a secret.
func keyOf(at *field.Path, name, key string) field.ErrorList {
	errs := subdomain(at.Child("name"), name)
	if key == "" {
		return append(errs, field.Required(at.Child("key"), ""))
	}
	return append(errs, invalid(at.Child("key"), key, utilvalidation.IsConfigMapKey(key))...)
}

func propagation(at *field.Path, mode *corev1.MountPropagationMode, c *corev1.Container) field.ErrorList {
	if mode == nil {
		return nil
	}
	errs := oneOf(at, *mode, corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)
	privileged := c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
	if *mode == corev1.MountPropagationBidirectional && !privileged {
		errs = append(errs, field.Forbidden(at, "Bidirectional mount propagation is available only to privileged containers"))
	}
	return errs
}

func probes(at *field.Path, c *corev1.Container) field.ErrorList {
	errs := probe(at.Child("livenessProbe"), c.LivenessProbe, true)
	errs = append(errs, probe(at.Child("readinessProbe"), c.ReadinessProbe, false)...)
	return append(errs, probe(at.Child("startupProbe"), c.StartupProbe, true)...)
}

// noProbes rejects probes of containers that run to completion.
func noProbes(at *field.Path, c *corev1.Container) field.ErrorList {
	const message = "may not be set for init containers without restartPolicy=Always"
	var errs field.ErrorList
	if c.Lifecycle != nil {
		errs = append(errs, field.Forbidden(at.Child("lifecycle"), message))
	}
	for _, p := range []struct {
		name  string
		probe *corev1.Probe
	}{{"livenessProbe", c.LivenessProbe}, {"readinessProbe", c.ReadinessProbe}, {"startupProbe", c.StartupProbe}} {
		if p.probe != nil {
			errs = append(errs, field.Forbidden(at.Child(p.name), message))
		}
	}
	return errs
}

// probe checks one probe. once means that one success is enough, and that a failing container is
// ended.
func probe(at *field.Path, p *corev1.Probe, once bool) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := handler(at, &p.ProbeHandler, nil, nil)
	for _, n := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", p.InitialDelaySeconds}, {"timeoutSeconds", p.TimeoutSeconds}, {"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold}, {"failureThreshold", p.FailureThreshold},
	} {
		errs = append(errs, natural(at.Child(n.name), int64(n.value))...)
	}
	grace := p.TerminationGracePeriodSeconds
	if grace != nil && *grace <= 0 {
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *grace, "must be greater than 0"))
	}
	if !once && grace != nil {
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), grace, "must not be set for readinessProbes"))
	}
	if once && p.SuccessThreshold != 1 {
		errs = append(errs, field.Invalid(at.Child("successThreshold"), p.SuccessThreshold, "must be 1"))
	}
	return errs
}

// handler checks the action of a hook or a probe; only hooks may sleep.
func handler(at *field.Path, h *corev1.ProbeHandler, sleep *corev1.SleepAction, grace *int64) field.ErrorList {
	var errs field.ErrorList
	given := false
	add := func(name string, check func(at *field.Path) field.ErrorList) {
		if given {
			errs = append(errs, field.Forbidden(at.Child(name), "may not specify more than 1 handler type"))
			return
		}
		given = true
		errs = append(errs, check(at.Child(name))...)
	}
	if h.Exec != nil {
		add("exec", func(at *field.Path) field.ErrorList {
			if len(h.Exec.Command) == 0 {
				return field.ErrorList{field.Required(at.Child("command"), "")}
			}
			return nil
		})
	}
	if h.HTTPGet != nil {
		add("httpGet", func(at *field.Path) field.ErrorList {
			var errs field.ErrorList
			if h.HTTPGet.Path == "" {
				errs = append(errs, field.Required(at.Child("path"), ""))
			}
			errs = append(errs, port(at.Child("port"), h.HTTPGet.Port)...)
			errs = append(errs, oneOf(at.Child("scheme"), h.HTTPGet.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
			for _, header := range h.HTTPGet.HTTPHeaders {
				errs = append(errs, invalid(at.Child("httpHeaders"), header.Name, utilvalidation.IsHTTPHeaderName(header.Name))...)
			}
			return errs
		})
	}
	if h.TCPSocket != nil {
		add("tcpSocket", func(at *field.Path) field.ErrorList { return port(at.Child("port"), h.TCPSocket.Port) })
	}
	if h.GRPC != nil {
		add("grpc", func(at *field.Path) field.ErrorList { return port(at.Child("port"), intstr.FromInt32(h.GRPC.Port)) })
	}
	if sleep != nil {
		add("sleep", func(at *field.Path) field.ErrorList { return sleeps(at, sleep, grace) })
	}
	if !given {
		return field.ErrorList{field.Required(at, "must specify a handler type")}
	}
	return errs
}

// port checks a port given by number or name.
func port(at *field.Path, p intstr.IntOrString) field.ErrorList {
	if p.Type == intstr.String {
		return invalid(at, p.StrVal, utilvalidation.IsValidPortName(p.StrVal))
	}
	return invalid(at, p.IntValue(), utilvalidation.IsValidPortNum(p.IntValue()))
}

func natural(at *field.Path, n int64) field.ErrorList {
	if n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, n, "must be greater than or equal to 0")}
}
