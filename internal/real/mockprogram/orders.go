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

// Orders are what a backend is asked to do behind the back of Kubernetes, as somebody at a storage system would. They are sent
// with POST to these paths, by whoever bears the token.
const (
	ChangeNodePath   = "/change-node"
	SetConditionPath = "/set-condition"
	DetachPath       = "/detach"
)

// ChangeNode changes what a node says of itself.
type ChangeNode struct {
	// Node is the id with which its plugin was started.
	Node string
	Info mock.NodeInfo
}

// SetCondition makes a volume abnormal, or well again without a message.
type SetCondition struct{ Volume, Message string }

// Detach detaches a volume from a node, given by its id of now.
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

// obey reads an order and carries it out.
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

// changeNode also remembers what was changed: a plugin that starts again has its first arguments.
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

// changedNode is what a node was changed to be since its plugin started first.
type changedNode struct {
	id       string
	topology map[string]string
}

// idOf is the id of a node of now.
func (n changedNode) idOf(first string) string {
	if n.id != "" {
		return n.id
	}
	return first
}
