package provisioner

import (
	"fmt"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The kinds of secrets in a class, and the place of each in a volume. C-PROV-25
const (
	provisionerSecret       = "provisioner"
	controllerPublishSecret = "controller-publish"
	nodeStageSecret         = "node-stage"
	nodePublishSecret       = "node-publish"
	controllerExpandSecret  = "controller-expand"
	nodeExpandSecret        = "node-expand"
	controllerModifySecret  = "controller-modify"
)

// secretKind holds the parameter keys of one kind.
type secretKind struct{ kind, oldName, oldNamespace string }

var secretKinds = []secretKind{
	{provisionerSecret, "csiProvisionerSecretName", "csiProvisionerSecretNamespace"},
	{controllerPublishSecret, "csiControllerPublishSecretName", "csiControllerPublishSecretNamespace"},
	{nodeStageSecret, "csiNodeStageSecretName", "csiNodeStageSecretNamespace"},
	{nodePublishSecret, "csiNodePublishSecretName", "csiNodePublishSecretNamespace"},
	{controllerExpandSecret, "", ""},
	{nodeExpandSecret, "", ""},
	{controllerModifySecret, "", ""},
}

const (
	defaultSecretName      = prefix + "secret-name"
	defaultSecretNamespace = prefix + "secret-namespace"
)

func (k secretKind) nameKeys() []string {
	return keys(prefix+k.kind+"-secret-name", k.oldName)
}

func (k secretKind) namespaceKeys() []string {
	return keys(prefix+k.kind+"-secret-namespace", k.oldNamespace)
}

func keys(key, old string) []string {
	if old == "" {
		return []string{key}
	}
	return []string{key, old}
}

func isSecretKey(key string) bool {
	if key == defaultSecretName || key == defaultSecretNamespace {
		return true
	}
	return slices.ContainsFunc(secretKinds, func(k secretKind) bool {
		return slices.Contains(k.nameKeys(), key) || slices.Contains(k.namespaceKeys(), key)
	})
}

// secretRefs holds the references to the secrets of a volume, by kind.
type secretRefs map[string]*corev1.SecretReference

// secretsOf resolves all secrets that the class names for a claim's volume.
func secretsOf(parameters map[string]string, volume string, pvc claim) (secretRefs, error) {
	refs := secretRefs{}
	for _, kind := range secretKinds {
		ref, err := kind.resolve(parameters, volume, pvc)
		if err != nil {
			return nil, err
		}
		if ref != nil {
			refs[kind.kind] = ref
		}
	}
	return refs, nil
}

// resolve returns the reference of one kind; nil if the class has none. pvc may be nil after the
// deletion of the claim.
func (k secretKind) resolve(parameters map[string]string, volume string, pvc claim) (*corev1.SecretReference, error) {
	name, named, err := single(parameters, k.nameKeys())
	if err != nil {
		return nil, err
	}
	namespace, placed, err := single(parameters, k.namespaceKeys())
	if err != nil {
		return nil, err
	}
	if !named && !placed {
		name, named = parameters[defaultSecretName], hasKey(parameters, defaultSecretName)
		namespace, placed = parameters[defaultSecretNamespace], hasKey(parameters, defaultSecretNamespace)
	}
	switch {
	case !named && !placed:
		return nil, nil
	case named != placed:
		return nil, fmt.Errorf("either name and namespace for %s secrets specified, Both must be specified", k.kind)
	case name == "" || namespace == "":
		return nil, fmt.Errorf("either name and namespace for %s secrets are empty, Both must be non-empty", k.kind)
	}
	return expand(name, namespace, volume, pvc)
}

func hasKey(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}

// single returns the value of one of several keys with the same meaning.
func single(parameters map[string]string, keys []string) (value string, found bool, err error) {
	for _, key := range keys {
		v, ok := parameters[key]
		if ok && found {
			return "", false, fmt.Errorf("%s is specified twice, as %s", keys[0], key)
		}
		if ok {
			value, found = v, true
		}
	}
	return value, found, nil
}

// expand fills in the templates of name and namespace. C-PROV-26
func expand(name, namespace, volume string, pvc claim) (*corev1.SecretReference, error) {
	tokens := map[string]string{"pv.name": volume}
	if pvc != nil {
		tokens["pvc.namespace"] = pvc.Namespace
	}
	space, err := fillTemplate(namespace, tokens)
	if err != nil {
		return nil, fmt.Errorf("secret namespace %q: %w", namespace, err)
	}
	if len(validation.IsDNS1123Label(space)) > 0 {
		return nil, fmt.Errorf("secret namespace %q resolved to %q, which is not a valid namespace name", namespace, space)
	}
	if pvc != nil {
		tokens["pvc.name"] = pvc.Name
		for key, value := range pvc.Annotations {
			tokens["pvc.annotations['"+key+"']"] = value
		}
	}
	full, err := fillTemplate(name, tokens)
	if err != nil {
		return nil, fmt.Errorf("secret name %q: %w", name, err)
	}
	if len(validation.IsDNS1123Subdomain(full)) > 0 {
		return nil, fmt.Errorf("secret name %q resolved to %q, which is not a valid secret name", name, full)
	}
	return &corev1.SecretReference{Name: full, Namespace: space}, nil
}

func fillTemplate(template string, tokens map[string]string) (string, error) {
	var unknown []string
	filled := os.Expand(template, func(token string) string {
		value, ok := tokens[token]
		if !ok {
			unknown = append(unknown, token)
		}
		return value
	})
	if len(unknown) > 0 {
		return "", fmt.Errorf("invalid tokens: %s", strings.Join(unknown, ", "))
	}
	return filled, nil
}
