package kubeletaccess

import (
	"fmt"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/rbac"
)

// reading are the verbs that change nothing.
var reading = []string{"get", "list", "watch"}

// authorizeNode is the Node authorizer. A refusal has a reason, which may be empty.
// [node_authorizer.go Authorize]
func (a *Authorizer) authorizeNode(node string, asked authorizationv1.SubjectAccessReviewSpec) (allowed bool, refusal string) {
	if node == "" {
		return false, fmt.Sprintf("unknown node for user %q", asked.User)
	}
	r := asked.ResourceAttributes
	if r == nil {
		return rbac.RulesAllow(a.rules, asked), ""
	}
	q := question{a, node, r}
	switch r.Group + "/" + r.Resource {
	case "/secrets", "/configmaps":
		return q.readsNamespaced()
	case "/persistentvolumeclaims":
		if r.Subresource == "status" {
			return q.updatesStatus()
		}
		return q.gets()
	case "/persistentvolumes", "resource.k8s.io/resourceclaims", "storage.k8s.io/volumeattachments":
		return q.gets()
	case "/serviceaccounts":
		return q.usesServiceAccount()
	case "coordination.k8s.io/leases":
		return q.usesLease()
	case "storage.k8s.io/csinodes":
		return q.usesCSINode()
	case "resource.k8s.io/resourceslices":
		return q.usesResourceSlice()
	case "/nodes":
		return q.usesNode()
	case "/pods":
		return q.usesPod()
	case "certificates.k8s.io/podcertificaterequests": // the gate PodCertificateRequest is off
		return false, ""
	}
	return rbac.RulesAllow(a.rules, asked), ""
}

// question is a node's request for a resource, which is allowed or not.
type question struct {
	*Authorizer
	node string
	*authorizationv1.ResourceAttributes
}

// related allows a request about an object that is related to the node.
func (q question) related() (bool, string) {
	if q.Name == "" {
		return false, "No Object name found"
	}
	if !q.isRelated(q.Resource, q.Namespace, q.Name) {
		return false, fmt.Sprintf("no relationship found between node '%s' and this object", q.node)
	}
	return true, ""
}

func (q question) gets() (bool, string) {
	switch {
	case q.Verb != "get":
		return false, "can only get individual resources of this type"
	case q.Subresource != "":
		return false, "cannot get subresource"
	}
	return q.related()
}

func (q question) updatesStatus() (bool, string) {
	if q.Verb != "update" && q.Verb != "patch" {
		return false, "can only get/update/patch this type"
	}
	return q.related()
}

func (q question) readsNamespaced() (bool, string) {
	switch {
	case !slices.Contains(reading, q.Verb):
		return false, "can only read resources of this type"
	case q.Subresource != "":
		return false, "cannot read subresource"
	case q.Namespace == "":
		return false, "can only read namespaced object of this type"
	}
	return q.related()
}

func (q question) usesServiceAccount() (bool, string) {
	switch {
	case q.Verb == "get" && q.Subresource == "":
		return q.readsNamespaced()
	case q.Verb != "create" || q.Name == "":
		return false, "can only create tokens for individual service accounts"
	case q.Subresource != "token":
		return false, "can only create token subresource of serviceaccount"
	}
	return q.related()
}

// own are the permitted verbs for an object with the name of the node. For a created object,
// admission checks the name.
var own = []string{"get", "create", "update", "patch", "delete"}

func (q question) usesLease() (bool, string) {
	switch {
	case !slices.Contains(own, q.Verb):
		return false, "can only get, create, update, patch, or delete a node lease"
	case q.Namespace != corev1.NamespaceNodeLease:
		return false, fmt.Sprintf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease)
	case q.Verb != "create" && q.Name != q.node:
		return false, "can only access node lease with the same name as the requesting node"
	}
	return true, ""
}

func (q question) usesCSINode() (bool, string) {
	switch {
	case !slices.Contains(own, q.Verb):
		return false, "can only get, create, update, patch, or delete a CSINode"
	case q.Subresource != "":
		return false, "cannot authorize CSINode subresources"
	case q.Verb != "create" && q.Name != q.node:
		return false, "can only access CSINode with the same name as the requesting node"
	}
	return true, ""
}

func (q question) usesResourceSlice() (bool, string) {
	if q.Subresource != "" {
		return false, "cannot authorize ResourceSlice subresources"
	}
	switch q.Verb {
	case "create":
		return true, ""
	case "get", "update", "patch", "delete":
		return q.related()
	case "watch", "list", "deletecollection":
		if q.selects("spec.nodeName") {
			return true, ""
		}
		return false, "can only list/watch/deletecollection resourceslices with nodeName field selector"
	}
	return false, "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection"
}

// selects reports whether a list is restricted to the objects of the node by a field selector.
func (q question) selects(field string) bool {
	if q.FieldSelector == nil {
		return false
	}
	return slices.ContainsFunc(q.FieldSelector.Requirements, func(r metav1.FieldSelectorRequirement) bool {
		return r.Key == field && r.Operator == metav1.FieldSelectorOpIn && slices.Equal(r.Values, []string{q.node})
	})
}

// usesNode compares names: a kubelet reads its node before the node exists.
func (q question) usesNode() (bool, string) {
	switch {
	case q.Subresource == "status":
		return q.Verb == "update" || q.Verb == "patch", ""
	case q.Subresource != "":
		return false, ""
	case slices.Contains([]string{"create", "update", "patch"}, q.Verb):
		return true, "" // admission looks at the name
	case !slices.Contains(reading, q.Verb):
		return false, ""
	case q.Name == q.node:
		return true, ""
	case q.Name == "":
		return false, fmt.Sprintf("node '%s' cannot read all nodes, only its own Node object", q.node)
	}
	return false, fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", q.node, q.Name)
}

func (q question) usesPod() (bool, string) {
	switch q.Subresource + " " + q.Verb {
	case " get":
		return q.gets()
	case " list", " watch":
		switch {
		case q.selects("spec.nodeName"):
			return true, ""
		case q.Name != "":
			return q.related()
		}
		return false, "can only list/watch pods with spec.nodeName field selector"
	case " create", " delete", "status update", "status patch", "eviction create":
		return true, "" // admission checks the pod's node
	}
	return false, ""
}
