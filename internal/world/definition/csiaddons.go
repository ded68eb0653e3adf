package definition

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addon is one kind of CSI-Addons.
type addon struct {
	kind, plural string
	cluster      bool
	short        string
}

// A-ARCH-4, A-NODE-1, A-NF-1, A-EKR-1, A-VR-1, A-VGR-1
var (
	csiAddons = []addon{
		{kind: "CSIAddonsNode", plural: "csiaddonsnodes"},
		{kind: "EncryptionKeyRotationCronJob", plural: "encryptionkeyrotationcronjobs"},
		{kind: "EncryptionKeyRotationJob", plural: "encryptionkeyrotationjobs"},
		{kind: "NetworkFence", plural: "networkfences", cluster: true},
		{kind: "NetworkFenceClass", plural: "networkfenceclasses", cluster: true},
		{kind: "ReclaimSpaceCronJob", plural: "reclaimspacecronjobs"},
		{kind: "ReclaimSpaceJob", plural: "reclaimspacejobs"},
	}
	replication = []addon{
		{kind: "VolumeGroupReplication", plural: "volumegroupreplications", short: "vgr"},
		{kind: "VolumeGroupReplicationClass", plural: "volumegroupreplicationclasses", cluster: true, short: "vgrc"},
		{kind: "VolumeGroupReplicationContent", plural: "volumegroupreplicationcontents", cluster: true, short: "vgrcontent"},
		{kind: "VolumeReplication", plural: "volumereplications", short: "vr"},
		{kind: "VolumeReplicationClass", plural: "volumereplicationclasses", cluster: true, short: "vrc"},
	}
)

// CSIAddons are definitions of the kinds of CSI-Addons. What is in their specs and
// statuses is not checked: who wants that applies the project's own definitions.
func CSIAddons() []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, a := range csiAddons {
		all = append(all, a.definition("csiaddons.openshift.io"))
	}
	for _, a := range replication {
		all = append(all, a.definition("replication.storage.openshift.io"))
	}
	return all
}

func (a addon) definition(group string) *apiextensionsv1.CustomResourceDefinition {
	open, scope := true, apiextensionsv1.NamespaceScoped
	if a.cluster {
		scope = apiextensionsv1.ClusterScoped
	}
	anything := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}
	var short []string
	if a.short != "" {
		short = []string{a.short}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: a.plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: a.plural, Kind: a.kind, ShortNames: short},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": anything, "status": anything},
				}},
			}},
		},
	}
}
