// Package csiaddons has the CustomResourceDefinitions of CSI-Addons: day-2 operations on volumes,
// such as reclaiming space, fencing networks and replication.
package csiaddons

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The API groups of CSI-Addons, and the version of both. A-ARCH-4
const (
	Group            = "csiaddons.openshift.io"
	ReplicationGroup = "replication.storage.openshift.io"
	Version          = "v1alpha1"
)

// kind is one kind of CSI-Addons.
type kind struct {
	group, name, plural string
	cluster             bool
	short               string
	columns             []column
	schema              schema
}

// All returns the definitions of the kinds of CSI-Addons, each a new object.
func All() []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, k := range []kind{
		node(), networkFence(), networkFenceClass(),
		reclaimSpaceJob(), reclaimSpaceCronJob(), keyRotationJob(), keyRotationCronJob(),
		volumeReplication(), volumeReplicationClass(),
		groupReplication(), groupReplicationClass(), groupReplicationContent(),
	} {
		all = append(all, k.definition())
	}
	return all
}

// Has reports whether a group belongs to CSI-Addons.
func Has(group string) bool { return group == Group || group == ReplicationGroup }

// Mentions reports whether a scenario or manifest names an API group of CSI-Addons, or has a driver
// that serves CSI-Addons.
func Mentions(text string) bool {
	return strings.Contains(text, Group) || strings.Contains(text, ReplicationGroup) || strings.Contains(text, "csiAddons")
}

func (k kind) definition() *apiextensionsv1.CustomResourceDefinition {
	scope := apiextensionsv1.NamespaceScoped
	if k.cluster {
		scope = apiextensionsv1.ClusterScoped
	}
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: k.plural, Kind: k.name}
	if k.short != "" {
		names.ShortNames = []string{k.short}
	}
	version := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: Version, Served: true, Storage: true,
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &k.schema},
	}
	for _, c := range k.columns {
		version.AdditionalPrinterColumns = append(version.AdditionalPrinterColumns, apiextensionsv1.CustomResourceColumnDefinition{
			Name: c.name, Type: c.kind, JSONPath: c.path, Priority: c.priority,
		})
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: k.plural + "." + k.group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: k.group, Scope: scope, Names: names,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version},
		},
	}
}

// column is a column of kubectl get. A column with a priority appears only in wide output.
type column struct {
	name, kind, path string
	priority         int32
}

// age is the column that most kinds have.
var age = column{name: "Age", kind: "date", path: ".metadata.creationTimestamp"}
