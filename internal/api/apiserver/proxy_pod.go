package apiserver

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// proxyPod passes a request on to a port of a pod. The name may have a scheme and the port, as in
// "https:web:8443". [pkg/registry/core/pod/strategy.go ResourceLocation]
func (q *request) proxyPod() error {
	scheme, name, port, valid := utilnet.SplitSchemeNamePort(q.info.name)
	asked := q.info.name
	if !valid {
		return badRequest("invalid pod request %q", asked)
	}
	q.info.name = name
	var number uint64
	address := ""
	err := q.exclusively(func() error {
		object, err := q.object()
		if err != nil {
			return err
		}
		pod := object.(*corev1.Pod)
		if port == "" {
			port = firstPort(pod)
		}
		if number, err = strconv.ParseUint(port, 10, 16); err != nil {
			return badRequest("invalid pod request %q", asked)
		}
		if q.server.streams == nil || q.server.options.Nodes == nil {
			return errNoStreams
		}
		if _, err = q.server.options.Nodes.Port(pod); err != nil {
			return unreachable(err)
		}
		if address = pod.Status.PodIP; address == "" {
			return badRequest("address not allowed")
		}
		return nil
	})
	if err != nil {
		return err
	}
	to := &url.URL{Scheme: "http", Host: net.JoinHostPort(name, port), Path: q.info.proxied, RawQuery: q.URL.RawQuery}
	if scheme == "https" {
		to.Scheme = scheme
	}
	q.passOn(to, net.JoinHostPort(address, strconv.FormatUint(number, 10)))
	return nil
}

// firstPort returns the first port of the pod's containers, or 80.
func firstPort(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if len(c.Ports) > 0 {
			return strconv.Itoa(int(c.Ports[0].ContainerPort))
		}
	}
	return "80"
}

// passOn forwards the request to another server, at an address of the cluster, without credentials.
func (q *request) passOn(to *url.URL, address string) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return q.server.options.Nodes.Dial(ctx, address)
	}
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL, r.Out.Host = to, ""
			r.Out.Header.Del("Authorization")
			r.SetXForwarded()
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) { q.answer.failure(unreachable(err)) },
	}
	proxy.ServeHTTP(q.answer.w, q.Request)
}

// unreachable returns the error for a server that cannot be reached.
func unreachable(err error) error {
	return apierrors.NewServiceUnavailable("error trying to reach service: " + err.Error())
}
