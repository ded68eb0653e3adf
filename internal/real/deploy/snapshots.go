package deploy

import (
	"strings"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// SnapshotController is the name of the controller that all drivers with snapshots share, and of
// its image and pods.
const SnapshotController = "snapshot-controller"

// SnapshotKinds returns the kinds of snapshots and their controller. Distributions install them,
// not Kubernetes itself or drivers. The definitions have the fields of the kinds and their types,
// and no other rules.
func SnapshotKinds(o Options) []runtime.Object {
	kinds := []runtime.Object{
		definition("VolumeSnapshot", apiextensionsv1.NamespaceScoped, snapshotv1.VolumeSnapshot{}, "vs"),
		definition("VolumeSnapshotContent", apiextensionsv1.ClusterScoped, snapshotv1.VolumeSnapshotContent{}, "vsc", "vscs"),
		definition("VolumeSnapshotClass", apiextensionsv1.ClusterScoped, snapshotv1.VolumeSnapshotClass{}, "vsclass", "vsclasses"),
	}
	return append(append(kinds, granted(ofSnapshots(metav1.NamespaceSystem), ofSnapshots(""), snapshotRules)...), snapshotController(o))
}

// snapshotRules are the permissions of snapshot-controller.
var snapshotRules = []rbacv1.PolicyRule{
	rule("", "get list watch", "persistentvolumes", "nodes"),
	rule("", "get list watch update", "persistentvolumeclaims"),
	rule("", "list watch create update patch", "events"),
	rule("snapshot.storage.k8s.io", "get list watch", "volumesnapshotclasses"),
	rule("snapshot.storage.k8s.io", "get list watch create update patch delete", "volumesnapshotcontents"),
	rule("snapshot.storage.k8s.io", "patch", "volumesnapshotcontents/status"),
	rule("snapshot.storage.k8s.io", "get list watch create update patch delete", "volumesnapshots"),
	rule("snapshot.storage.k8s.io", "update patch", "volumesnapshots/status"),
}

func ofSnapshots(namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: SnapshotController, Namespace: namespace, Labels: map[string]string{ManagedBy: By, DriverLabel: SnapshotController}}
}

// snapshotController returns the Deployment of snapshot-controller. Its pods have the same kind of
// label as the static pods of the control plane.
func snapshotController(o Options) *appsv1.Deployment {
	one, labels := int32(1), map[string]string{"component": SnapshotController}
	spec := corev1.PodSpec{
		ServiceAccountName: SnapshotController,
		Containers:         []corev1.Container{{Name: SnapshotController, Image: o.image(SnapshotController), Args: []string{"--v=2"}}},
	}
	o.keepOnControlPlane(&spec)
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: ofSnapshots(metav1.NamespaceSystem),
		Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels}, Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}
}

func definition(name string, scope apiextensionsv1.ResourceScope, of any, short ...string) *apiextensionsv1.CustomResourceDefinition {
	const group = snapshotv1.GroupName
	singular := strings.ToLower(name)
	plural := singular + "s"
	if strings.HasSuffix(singular, "s") {
		plural = singular + "es"
	}
	schema := schemaOf(of)
	version := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
	}
	if _, has := schema.Properties["status"]; has {
		version.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{
			Name: plural + "." + group, Labels: map[string]string{ManagedBy: By},
			Annotations: map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, made of the Go types of external-snapshotter"},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: scope, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version},
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: singular, Kind: name, ListKind: name + "List", ShortNames: short},
		},
	}
}
