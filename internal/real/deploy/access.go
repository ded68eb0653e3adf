package deploy

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// rules are the combined rules of csi-provisioner, csi-attacher, csi-resizer and csi-snapshotter,
// from their own repositories.
var rules = []rbacv1.PolicyRule{
	rule("", "get list watch create update patch delete", "persistentvolumes"),
	rule("", "get list watch update patch", "persistentvolumeclaims"),
	rule("", "patch", "persistentvolumeclaims/status"),
	rule("", "get list watch create update patch", "events"),
	rule("", "get list watch", "nodes", "pods", "secrets"),
	rule("storage.k8s.io", "get list watch", "storageclasses", "csinodes", "volumeattributesclasses"),
	rule("storage.k8s.io", "get list watch patch", "volumeattachments"),
	rule("storage.k8s.io", "patch", "volumeattachments/status"),
	rule("storage.k8s.io", "get list watch create update patch delete", "csistoragecapacities"),
	rule("snapshot.storage.k8s.io", "get list watch", "volumesnapshotclasses"),
	// csi-provisioner protects the source of a volume. C-PROV-44
	rule("snapshot.storage.k8s.io", "get list watch update", "volumesnapshots"),
	rule("snapshot.storage.k8s.io", "get list watch update patch", "volumesnapshotcontents"),
	rule("snapshot.storage.k8s.io", "update patch", "volumesnapshotcontents/status"),
	rule("groupsnapshot.storage.k8s.io", "get list watch", "volumegroupsnapshotclasses"),
	rule("groupsnapshot.storage.k8s.io", "get list watch update patch", "volumegroupsnapshotcontents"),
	rule("groupsnapshot.storage.k8s.io", "update patch", "volumegroupsnapshotcontents/status"),
	rule("coordination.k8s.io", "get list watch create update patch delete", "leases"),
	rule("apps", "get", "replicasets"),
}

func rule(group, verbs string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: fields(verbs)}
}

// access returns the namespace, service account and role of a driver's pods.
func (m maker) access() []runtime.Object {
	everywhere := m.meta("")
	everywhere.Namespace = ""
	everywhere.Name = "csisim-" + m.slug
	namespace := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: m.Namespace, Labels: map[string]string{ManagedBy: By}}}
	return append([]runtime.Object{namespace}, granted(m.meta(""), everywhere, rules)...)
}

const rbacAPI = "rbac.authorization.k8s.io/v1"

// granted returns a service account with a cluster role. everywhere is the metadata of the role and
// its binding.
func granted(account, everywhere metav1.ObjectMeta, rules []rbacv1.PolicyRule) []runtime.Object {
	return []runtime.Object{
		&corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: account},
		&rbacv1.ClusterRole{TypeMeta: metav1.TypeMeta{APIVersion: rbacAPI, Kind: "ClusterRole"}, ObjectMeta: everywhere, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: rbacAPI, Kind: "ClusterRoleBinding"}, ObjectMeta: everywhere,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: everywhere.Name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: account.Namespace}},
		},
	}
}
