package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NetworkFence keeps clients off the storage. A-NF-1
type NetworkFence struct {
	Fields[NetworkFenceSpec, NetworkFenceStatus] `json:",inline"`
}

// NetworkFenceSpec describes the clients to be fenced.
type NetworkFenceSpec struct {
	NetworkFenceClassName string   `json:"networkFenceClassName"`
	Driver                string   `json:"driver"`
	FenceState            string   `json:"fenceState"`
	CIDRs                 []string `json:"cidrs"`
	Secret                struct {
		Name      string `json:"name,omitempty"`
		Namespace string `json:"namespace,omitempty"`
	} `json:"secret,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// NetworkFenceStatus is the result.
type NetworkFenceStatus struct {
	Result     string             `json:"result,omitempty"`
	Message    string             `json:"message,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Of returns the kind of the object.
func (*NetworkFence) Of() schema.GroupVersionKind { return of("NetworkFence") }
