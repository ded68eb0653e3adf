package apiserver

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// proxy passes a request on to a node, a service or a pod.
func (q *request) proxy() error {
	switch q.info.resource {
	case "nodes":
		return q.proxyNode()
	case "services":
		return q.proxyService()
	}
	return q.proxyPod()
}

// proxyNode answers with a page of a node's kubelet. The name may have a scheme and a port, as in
// "https:node-a:10250". [pkg/registry/core/node/strategy.go ResourceLocation]
func (q *request) proxyNode() error {
	_, name, port, valid := utilnet.SplitSchemeNamePort(q.info.name)
	if !valid {
		return badRequest("invalid node request %q", q.info.name)
	}
	q.info.name = name
	var page *Page
	err := q.exclusively(func() error {
		if _, err := q.object(); err != nil {
			return err
		}
		if q.server.options.Nodes == nil {
			return apierrors.NewServiceUnavailable("error trying to reach service: there are no nodes")
		}
		var err error
		if page, err = q.server.options.Nodes.Page(name, port, q.info.proxied); err != nil {
			return unreachable(err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case page == nil:
		http.NotFound(q.answer.w, q.Request)
	case q.Method != http.MethodGet:
		http.Error(q.answer.w, "405: Method Not Allowed", http.StatusMethodNotAllowed)
	default:
		q.answer.body(http.StatusOK, page.Type, page.Body)
	}
	return nil
}
