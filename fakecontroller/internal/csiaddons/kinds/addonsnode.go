package kinds

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Node is a CSIAddonsNode. A-NODE-1
type Node struct {
	Fields[NodeSpec, NodeStatus] `json:",inline"`
}

// NodeSpec is a sidecar's description of itself.
type NodeSpec struct {
	Driver struct {
		Name     string `json:"name"`
		EndPoint string `json:"endpoint"`
		NodeID   string `json:"nodeID"`
	} `json:"driver"`
}

// NodeStatus is the state of the connection.
type NodeStatus struct {
	State         string         `json:"state,omitempty"`
	Message       string         `json:"message,omitempty"`
	Reason        string         `json:"reason,omitempty"`
	Capabilities  []string       `json:"capabilities,omitempty"`
	ClientsByNode []FenceClients `json:"networkFenceClientStatus,omitempty"`
}

// FenceClients are the clients that the driver named for one class.
type FenceClients struct {
	Class   string        `json:"networkFenceClassName"`
	Clients []FenceClient `json:"ClientDetails"`
}

// FenceClient is a client of the storage system.
type FenceClient struct {
	ID    string   `json:"id"`
	CIDRs []string `json:"cidrs"`
}

// Of returns the kind of the object.
func (*Node) Of() schema.GroupVersionKind { return of("CSIAddonsNode") }
