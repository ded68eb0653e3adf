package apiserver

import (
	"fmt"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/csisim/csisim/internal/world/discovery"
)

// proxyService passes a request on to a pod of a service. The name may have a scheme and a port, by
// number or name, as in "https:web:8443".
// [pkg/registry/core/service/storage/storage.go ResourceLocation]
func (q *request) proxyService() error {
	asked := q.info.name
	scheme, name, port, valid := utilnet.SplitSchemeNamePort(asked)
	if !valid {
		return badRequest("invalid service request %q", asked)
	}
	q.info.name = name
	address := ""
	err := q.exclusively(func() error {
		object, err := q.object()
		if err != nil {
			return err
		}
		s := object.(*corev1.Service)
		if number, err := strconv.ParseInt(port, 10, 64); err == nil {
			if port, err = portNamed(s, number); err != nil {
				return err
			}
		}
		backends := discovery.BackendsOf(q.server.store, s, port)
		if len(backends) == 0 {
			return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", asked))
		}
		if q.server.streams == nil || q.server.options.Nodes == nil {
			return errNoStreams
		}
		address = backends[0].String()
		return nil
	})
	if err != nil {
		return err
	}
	to := &url.URL{Scheme: "http", Host: address, Path: q.info.proxied, RawQuery: q.URL.RawQuery}
	if scheme == "https" {
		to.Scheme = scheme
	}
	q.passOn(to, address)
	return nil
}

// portNamed returns the name of a service's port with a number.
func portNamed(s *corev1.Service, number int64) (string, error) {
	for _, p := range s.Spec.Ports {
		if int64(p.Port) == number {
			return p.Name, nil
		}
	}
	return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", number, s.Name))
}
