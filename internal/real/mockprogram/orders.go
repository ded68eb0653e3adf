package mockprogram

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"time"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/real/proxy"
)

// Paths of orders that a backend executes like an administrator of a storage system, unnoticed by
// Kubernetes. A client sends them with POST and the token.
const (
	ChangeNodePath   = "/change-node"
	SetConditionPath = "/set-condition"
	DetachPath       = "/detach"
)

// ChangeNode changes the information of a node.
type ChangeNode struct {
	// Node is the initial id of its plugin.
	Node string
	Info mock.NodeInfo
}

// SetCondition makes a volume abnormal, or normal if the message is empty.
type SetCondition struct{ Volume, Message string }

// Detach detaches a volume from a node, given by its current id.
type Detach struct{ Volume, Node string }

// serveOrders serves until ctx ends.
func (b *Backend) serveOrders(ctx context.Context) error {
	listener, err := net.Listen("tcp", b.Orders)
	if err != nil {
		return err
	}
	orders := http.NewServeMux()
	orders.HandleFunc("POST "+ChangeNodePath, obey(b.changeNode))
	orders.HandleFunc("POST "+SetConditionPath, obey(b.setCondition))
	orders.HandleFunc("POST "+DetachPath, obey(b.detach))
	server := &http.Server{Handler: proxy.Bearing(b.Token, orders), ReadHeaderTimeout: time.Minute}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	return server.Serve(listener)
}

// obey reads and executes an order.
func obey[T any](do func(T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var o T
		err := json.NewDecoder(r.Body).Decode(&o)
		if err == nil {
			err = do(o)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		}
	}
}

// changeNode also records the change, because a restarted plugin has its original arguments.
func (b *Backend) changeNode(o ChangeNode) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.changed[o.Node]
	if err := b.driver.ChangeNode(was.idOf(o.Node), o.Info); err != nil {
		return err
	}
	if o.Info.NodeID != nil {
		was.id = *o.Info.NodeID
	}
	if o.Info.Topology != nil {
		was.topology = o.Info.Topology
	}
	b.changed[o.Node] = was
	return nil
}

func (b *Backend) setCondition(o SetCondition) error {
	if o.Message == "" {
		return b.driver.SetCondition(o.Volume, nil)
	}
	return b.driver.SetCondition(o.Volume, &mock.Condition{Message: o.Message})
}

func (b *Backend) detach(o Detach) error {
	b.driver.Detach(o.Volume, o.Node)
	return nil
}

// changedNode is the changed information of a node since its plugin first started.
type changedNode struct {
	id       string
	topology map[string]string
}

// idOf returns the current id of a node.
func (n changedNode) idOf(first string) string {
	if n.id != "" {
		return n.id
	}
	return first
}
