package snapshot

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// ParameterPrefix marks the parameters of a class that are not for the driver.
const ParameterPrefix = "csi.storage.k8s.io/"

// SecretKind is one use of a secret that a class can name. C-SNAP-4
type SecretKind struct{ name, key string }

// The secrets of a class of snapshots and of a class of group snapshots.
var (
	Snapshotter         = SecretKind{"Snapshotter", "snapshotter"}
	SnapshotterList     = SecretKind{"SnapshotterList", "snapshotter-list"}
	GroupSnapshotter    = SecretKind{"GroupSnapshotter", "group-snapshotter"}
	GroupSnapshotterGet = SecretKind{"GroupSnapshotterGet", "group-snapshotter-get"}
)

func (k SecretKind) nameKey() string      { return ParameterPrefix + k.key + "-secret-name" }
func (k SecretKind) namespaceKey() string { return ParameterPrefix + k.key + "-secret-namespace" }

// Of resolves the reference in a class's parameters; nil if there is none. word is "volumesnapshot"
// or "volumegroupsnapshot". object may be nil if the snapshot is unknown.
func (k SecretKind) Of(parameters map[string]string, word, content string, object metav1.Object) (*corev1.SecretReference, error) {
	name, named := parameters[k.nameKey()]
	namespace, placed := parameters[k.namespaceKey()]
	switch {
	case !named && !placed:
		return nil, nil
	case named != placed:
		return nil, fmt.Errorf("failed to get name and namespace template from params: either name and namespace for %s secrets specified, Both must be specified", k.name)
	case name == "" || namespace == "":
		return nil, fmt.Errorf("failed to get name and namespace template from params: %s secrets specified in parameters but value of either namespace or name is empty", k.name)
	}
	tokens := map[string]string{word + "content.name": content}
	if object != nil {
		tokens[word+".namespace"] = object.GetNamespace()
	}
	space, err := resolve(namespace, tokens, "namespace", validation.IsDNS1123Label)
	if err != nil {
		return nil, err
	}
	if object != nil {
		tokens[word+".name"] = object.GetName()
	}
	full, err := resolve(name, tokens, "secret", validation.IsDNS1123Subdomain)
	if err != nil {
		return nil, err
	}
	return &corev1.SecretReference{Name: full, Namespace: space}, nil
}

func resolve(template string, tokens map[string]string, what string, mistakes func(string) []string) (string, error) {
	var unknown []string
	value := os.Expand(template, func(token string) string {
		value, ok := tokens[token]
		if !ok && !slices.Contains(unknown, token) {
			unknown = append(unknown, token)
		}
		return value
	})
	switch {
	case len(unknown) > 0:
		slices.Sort(unknown)
		return "", fmt.Errorf("error resolving value %q: invalid tokens: %q", template, unknown)
	case len(mistakes(value)) == 0:
		return value, nil
	case value == template:
		return "", fmt.Errorf("%q is not a valid %s name", template, what)
	}
	return "", fmt.Errorf("%q resolved to %q which is not a valid %s name", template, value, what)
}

// DriverParameters returns the parameters of a class that are passed to the driver. C-SNAP-34
func DriverParameters(parameters map[string]string) (map[string]string, error) {
	kept := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		switch {
		case isSecretKey(key):
		case strings.HasPrefix(key, ParameterPrefix):
			return nil, fmt.Errorf("found unknown parameter key %q with reserved namespace %s", key, ParameterPrefix)
		default:
			kept[key] = parameters[key]
		}
	}
	return kept, nil
}

func isSecretKey(key string) bool {
	for _, kind := range []SecretKind{Snapshotter, SnapshotterList, GroupSnapshotter, GroupSnapshotterGet} {
		if key == kind.nameKey() || key == kind.namespaceKey() {
			return true
		}
	}
	return false
}
