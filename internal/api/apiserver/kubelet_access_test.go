package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// kubelets is a cluster with two nodes; pod web runs on node a and uses the objects claim, config
// and pull.
type kubelets struct{ *ruled }

func newKubelets(t *testing.T) kubelets {
	k := kubelets{newRuled(t)}
	for path, bodies := range map[string][]string{
		nodesPath: {
			"{apiVersion: v1, kind: Node, metadata: {name: a}}", "{apiVersion: v1, kind: Node, metadata: {name: b}}",
		},
		"/api/v1/namespaces/default/configmaps": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: config}}"},
		"/api/v1/namespaces/default/persistentvolumeclaims": {
			"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: claim}, spec: {volumeName: volume, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
		},
		"/api/v1/persistentvolumes": {`{apiVersion: v1, kind: PersistentVolume, metadata: {name: volume}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi},
			claimRef: {namespace: default, name: claim}, csi: {driver: d, volumeHandle: v, nodeStageSecretRef: {namespace: keys, name: stage}, controllerExpandSecretRef: {namespace: keys, name: expand}}}}`},
		"/apis/storage.k8s.io/v1/volumeattachments": {
			"{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: at-a}, spec: {attacher: d, nodeName: a, source: {persistentVolumeName: volume}}}",
		},
		"/apis/storage.k8s.io/v1/csidrivers": {"{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d}, spec: {tokenRequests: [{audience: vault}]}}"},
		pods: {
			`{apiVersion: v1, kind: Pod, metadata: {name: web, uid: "1"}, spec: {nodeName: a, serviceAccountName: robot, imagePullSecrets: [{name: pull}],
				containers: [{name: c, image: i, envFrom: [{configMapRef: {name: config}}]}], volumes: [{name: data, persistentVolumeClaim: {claimName: claim}}]}}`,
			"{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {nodeName: b, containers: [{name: c, image: i}]}}",
		},
	} {
		for _, body := range bodies {
			k.admin("POST", path, body)
		}
	}
	return k
}

// of sends a request with the name and the group of a node's kubelet.
func (k kubelets) of(node, method, path, body string) said {
	k.t.Helper()
	contentType := "application/yaml"
	if method == "PATCH" {
		contentType = "application/merge-patch+json"
	}
	return k.say(method, path, contentType, body, bearing, "Bearer admin", "Impersonate-User", "system:node:"+node, "Impersonate-Group", "system:nodes")
}

// message returns the error of a refused request, empty if it was not refused.
func message(answer said) string {
	if answer.code != http.StatusForbidden {
		return ""
	}
	return answer.field("message").(string)
}

// C-API-1: the Node authorizer permits a kubelet to read objects that are related to its node.
// Subtests are after [plugin/pkg/auth/authorizer/node node_authorizer_test.go TestNodeAuthorizer,
// TestNodeAuthorizerSharedResources].
func TestAKubeletReadsObjectsRelatedToItsNode(t *testing.T) {
	k := newKubelets(t)
	const none = "no relationship found between node 'b' and this object"
	for _, try := range []struct{ path, why string }{
		{"/api/v1/namespaces/default/configmaps/config", none},
		{"/api/v1/namespaces/default/secrets/pull", none},
		{"/api/v1/namespaces/keys/secrets/stage", none},
		{"/api/v1/namespaces/default/persistentvolumeclaims/claim", none},
		{"/api/v1/persistentvolumes/volume", none},
		{"/apis/storage.k8s.io/v1/volumeattachments/at-a", none},
		{pods + "/web", none},
		{"/api/v1/nodes/a", "node 'b' cannot read 'a', only its own Node object"},
		{"/apis/storage.k8s.io/v1/csinodes/a", "can only access CSINode with the same name as the requesting node"},
		{"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a", "can only access node lease with the same name as the requesting node"},
		{"/api/v1/pods?fieldSelector=spec.nodeName%3Da", "can only list/watch pods with spec.nodeName field selector"},
	} {
		assert.Empty(t, message(k.of("a", "GET", try.path, "")), try.path)
		assert.Contains(t, message(k.of("b", "GET", try.path, "")), ": "+try.why, try.path)
	}
	for path, why := range map[string]string{
		"/api/v1/namespaces/keys/secrets/expand": "no relationship found between node 'a' and this object",
		"/api/v1/namespaces/default/secrets":     "No Object name found",
		"/api/v1/secrets":                        "can only read namespaced object of this type",
		"/api/v1/persistentvolumes":              "can only get individual resources of this type",
		"/api/v1/nodes":                          "node 'a' cannot read all nodes, only its own Node object",
		"/api/v1/pods":                           "can only list/watch pods with spec.nodeName field selector",
		"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a":     `can only access leases in the "kube-node-lease" system namespace`,
		"/apis/storage.k8s.io/v1/volumeattachments?watch=1":                "can only get individual resources of this type",
		"/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.x%3Da": "can only list/watch/deletecollection resourceslices with nodeName field selector",
	} {
		assert.Contains(t, message(k.of("a", "GET", path, "")), ": "+why, path)
	}
	assert.Equal(t, http.StatusOK, k.of("a", "GET", "/apis/storage.k8s.io/v1/csidrivers", "").code)
	assert.Equal(t, http.StatusForbidden, k.of("a", "GET", "/apis/apps/v1/deployments", "").code)
	assert.Equal(t, `nodes "b" is forbidden: User "system:node:a" cannot delete resource "nodes" in API group "" at the cluster scope`,
		message(k.of("a", "DELETE", nodesPath+"/b", "")))
}

// C-API-2: NodeRestriction permits a kubelet to write its own objects, but no labels or taints that
// influence scheduling. [plugin/pkg/admission/noderestriction admission_test.go
// Test_nodePlugin_Admit]
func TestAKubeletWritesItsOwnObjects(t *testing.T) {
	k := newKubelets(t)
	const claimStatus = "/api/v1/namespaces/default/persistentvolumeclaims/claim/status"
	const notItsNode = `nodes "b" is forbidden: node "a" is not allowed to modify node "b"`
	for _, try := range []struct{ method, path, body, refusal string }{
		{"PATCH", nodesPath + "/a", `{"metadata":{"labels":{"topology.kubernetes.io/zone":"z","own.example.com/x":"y"},"annotations":{"a":"b"}}}`, ""},
		{"PATCH", nodesPath + "/b", `{"metadata":{"annotations":{"a":"b"}}}`, notItsNode},
		{"PATCH", nodesPath + "/b/status", `{"status":{"phase":"Running"}}`, notItsNode},
		{"PATCH", nodesPath + "/a", `{"metadata":{"labels":{"node-restriction.kubernetes.io/x":"y","node-role.kubernetes.io/z":""}}}`,
			`nodes "a" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/x, node-role.kubernetes.io/z`},
		{"PATCH", nodesPath + "/a", `{"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}`, `nodes "a" is forbidden: node "a" is not allowed to modify taints`},
		{"PATCH", nodesPath + "/a", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"a","uid":"1"}]}}`,
			`nodes "a" is forbidden: node "a" is not allowed to modify ownerReferences`},
		{"POST", nodesPath, "{apiVersion: v1, kind: Node, metadata: {name: c}}", `nodes "c" is forbidden: node "a" is not allowed to modify node "c"`},
		{"PATCH", pods + "/web/status", `{"status":{"message":"m"}}`, ""},
		{"PATCH", pods + "/web/status", `{"metadata":{"labels":{"a":"b"}}}`, `pods "web" is forbidden: node "a" cannot update labels through pod status`},
		{"PATCH", pods + "/other/status", `{"status":{"message":"m"}}`,
			`pods "other" is forbidden: node "a" can only update pod status for pods with spec.nodeName set to itself`},
		{"DELETE", pods + "/other", "", `pods "other" is forbidden: node "a" can only delete pods with spec.nodeName set to itself`},
		{"POST", pods + "/other/eviction", "{apiVersion: policy/v1, kind: Eviction, metadata: {name: other}}",
			`pods "other" is forbidden: node a can only evict pods with spec.nodeName set to itself`},
		{"POST", pods, "{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {nodeName: a, containers: [{name: c, image: i}]}}",
			`pods "new" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "a" can only create mirror pods`},
		{"PATCH", claimStatus, `{"status":{"capacity":{"storage":"2Gi"}}}`, ""},
		{"POST", "/apis/storage.k8s.io/v1/csinodes", "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: b}, spec: {drivers: []}}",
			`csinodes.storage.k8s.io "b" is forbidden: can only access CSINode with the same name as the requesting node`},
	} {
		assert.Equal(t, try.refusal, message(k.of("a", try.method, try.path, try.body)), "%s %s %s", try.method, try.path, try.body)
	}
	answer := k.of("a", "PATCH", claimStatus, `{"metadata":{"labels":{"a":"b"}}}`)
	assert.Contains(t, message(answer), `node "a" is not allowed to update fields other than status.quantity and status.conditions: `)
	assert.Equal(t, http.StatusOK, k.of("a", "DELETE", pods+"/web?gracePeriodSeconds=0", "").code)
}

// C-API-2: a kubelet gets tokens for pods of its node, for the audiences of their volumes.
// [plugin/pkg/admission/noderestriction admitServiceAccount]
func TestAKubeletRequestsTokensOfItsPods(t *testing.T) {
	k := newKubelets(t)
	uid := k.admin("GET", pods+"/web", "").field("metadata", "uid").(string)
	bound := "boundObjectRef: {apiVersion: v1, kind: Pod, name: web, uid: " + uid + "}"
	token := func(node, spec string) string {
		return message(k.of(node, "POST", robots+"/robot/token", "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {"+spec+"}}"))
	}
	const refused = `serviceaccounts "robot" is forbidden: `
	assert.Empty(t, token("a", "audiences: [vault], "+bound), "the driver of its volume names it")
	assert.Equal(t, refused+"node requested token not bound to a pod", token("a", ""))
	assert.Equal(t, refused+`audience "other" not found in pod spec volume, system:node:a is not authorized to request tokens for this audience`, token("a", "audiences: [other], "+bound))
	assert.Contains(t, token("b", bound), "no relationship found between node 'b' and this object")
}

// C-API-1: reviews support nodes: kubectl auth can-i --as=system:node:a --as-group=system:nodes.
func TestReviewsAnswerForNodes(t *testing.T) {
	k := newKubelets(t)
	const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	k.admin("POST", roles, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: basic}, rules: [{apiGroups: [authorization.k8s.io], resources: ['*'], verbs: [create]}]}")
	k.admin("POST", roles[:len(roles)-1]+"bindings", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: basic},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: basic}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: system:authenticated}]}`)
	review := func(attributes string) said {
		return k.of("a", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			"{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {resourceAttributes: {"+attributes+"}}}")
	}
	assert.Equal(t, true, review("verb: get, resource: nodes, name: a").field("status", "allowed"))
	assert.Equal(t, true, review("verb: list, resource: pods, fieldSelector: {rawSelector: spec.nodeName=a}").field("status", "allowed"))
	refused := review("verb: get, resource: nodes, name: b")
	assert.Equal(t, false, refused.field("status", "allowed"))
	assert.Equal(t, "node 'a' cannot read 'b', only its own Node object", refused.field("status", "reason"))
	rules := k.of("a", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
		"{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectRulesReview, spec: {namespace: default}}")
	assert.Equal(t, true, rules.field("status", "incomplete"))
	assert.Equal(t, "node authorizer does not support user rule resolution", rules.field("status", "evaluationError"))
}
