package fakekubelet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// variables are the environment of a container.
type variables map[string]string

func (v variables) list() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		all = append(all, name+"="+v[name])
	}
	return all
}

// setDefault sets a variable unless it has a value.
func (v variables) setDefault(name, value string) {
	if _, has := v[name]; !has {
		v[name] = value
	}
}

// environment returns the variables of a container: the address of the API server, then the
// container's envFrom and env.
func (w *podWorker) environment(p *kernel.Process, c *corev1.Container) (variables, error) {
	env := variables{"HOSTNAME": w.hostname()}
	if c.TTY {
		env["TERM"] = "xterm"
	}
	if api := w.options.API; api != nil {
		maps.Copy(env, variables{
			"KUBERNETES_SERVICE_HOST": api.Host, "KUBERNETES_SERVICE_PORT": api.Port, "KUBERNETES_SERVICE_PORT_HTTPS": api.Port,
			"KUBERNETES_PORT": "tcp://" + api.Host + ":" + api.Port,
		})
	}
	for _, from := range c.EnvFrom {
		if err := w.addAll(p, env, from); err != nil {
			return nil, err
		}
	}
	for _, one := range c.Env {
		value, err := w.valueOf(p, c, one, env)
		if err != nil {
			return nil, err
		}
		if value != nil {
			env[one.Name] = *value
		}
	}
	return env, nil
}

// addAll adds all entries of a config map or a secret with keys that can be names.
func (w *podWorker) addAll(p *kernel.Process, env variables, from corev1.EnvFromSource) error {
	entries := map[string]string{}
	switch {
	case from.ConfigMapRef != nil:
		object, err := w.configMap(p, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		if err != nil {
			return err
		}
		entries = object.Data
	case from.SecretRef != nil:
		object, err := w.secret(p, from.SecretRef.Name, from.SecretRef.Optional)
		if err != nil {
			return err
		}
		// In any order: they go into a map.
		for key, value := range object.Data {
			entries[key] = string(value)
		}
	}
	// In any order: they go into a map.
	for key, value := range entries {
		if name := from.Prefix + key; len(validation.IsEnvVarName(name)) == 0 {
			env[name] = value
		}
	}
	return nil
}

// valueOf returns the value of a variable; nil if its optional source is missing.
func (w *podWorker) valueOf(p *kernel.Process, c *corev1.Container, one corev1.EnvVar, env variables) (*string, error) {
	from := one.ValueFrom
	switch {
	case from == nil:
		return new(expand(one.Value, env)), nil
	case from.FieldRef != nil:
		value, err := w.field(from.FieldRef.FieldPath)
		return &value, err
	case from.ResourceFieldRef != nil:
		value, err := resourceField(c, from.ResourceFieldRef)
		return &value, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		object, err := w.configMap(p, ref.Name, ref.Optional)
		if err != nil {
			return nil, err
		}
		value, ok := object.Data[ref.Key]
		return found(value, ok, ref.Optional, "couldn't find key %v in ConfigMap %v/%v", ref.Key, w.pod.Namespace, ref.Name)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		object, err := w.secret(p, ref.Name, ref.Optional)
		if err != nil {
			return nil, err
		}
		value, ok := object.Data[ref.Key]
		return found(string(value), ok, ref.Optional, "couldn't find key %v in Secret %v/%v", ref.Key, w.pod.Namespace, ref.Name)
	}
	return nil, fmt.Errorf("env %s: its source is none that is known", one.Name)
}

func found(value string, ok bool, optional *bool, format string, args ...any) (*string, error) {
	switch {
	case ok:
		return &value, nil
	case optional != nil && *optional:
		return nil, nil
	}
	return nil, fmt.Errorf(format, args...)
}

// configMap returns a config map of the pod's namespace; an empty one if it is optional and
// missing.
func (w *podWorker) configMap(p *kernel.Process, name string, optional *bool) (*corev1.ConfigMap, error) {
	object, err := component.Live[*corev1.ConfigMap](p, w.Component, store.Key{Namespace: w.pod.Namespace, Name: name})
	if err != nil && optional != nil && *optional {
		return &corev1.ConfigMap{}, nil
	}
	return object, notFound(err, "configmap", name)
}

// notFound returns the error for a missing object, in the words of the kubelet's own cache.
func notFound(err error, resource, name string) error {
	if apierrors.IsNotFound(err) {
		return apierrors.NewNotFound(corev1.Resource(resource), name)
	}
	return err
}

// secret is configMap for secrets.
func (w *podWorker) secret(p *kernel.Process, name string, optional *bool) (*corev1.Secret, error) {
	object, err := component.Live[*corev1.Secret](p, w.Component, store.Key{Namespace: w.pod.Namespace, Name: name})
	if err != nil && optional != nil && *optional {
		return &corev1.Secret{}, nil
	}
	return object, notFound(err, "secret", name)
}

func expandAll(texts []string, env variables) []string {
	var all []string
	for _, text := range texts {
		all = append(all, expand(text, env))
	}
	return all
}

// expand replaces $(NAME) by the variable's value and $$ by $; references to unknown names are
// kept.
func expand(text string, env variables) string {
	return expandWith(text, func(name string) (string, bool) {
		value, known := env[name]
		return value, known
	})
}

func expandWith(text string, valueOf func(name string) (value string, known bool)) string {
	var out strings.Builder
	for {
		before, after, more := strings.Cut(text, "$")
		out.WriteString(before)
		if !more {
			return out.String()
		}
		name, rest, closed := strings.Cut(strings.TrimPrefix(after, "("), ")")
		if strings.HasPrefix(after, "$") {
			out.WriteByte('$')
			text = after[1:]
			continue
		}
		if strings.HasPrefix(after, "(") && closed {
			if value, known := valueOf(name); known {
				out.WriteString(value)
				text = rest
				continue
			}
		}
		out.WriteByte('$')
		text = after
	}
}
