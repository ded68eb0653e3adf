// Package probe performs the probes of a pod, except for commands, which run in the container.
package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// Answer is the outcome of a probe.
type Answer struct {
	OK bool
	// Output is the message about a probe that failed.
	Output string
}

// most bounds the part of an answer's body that is read, in bytes.
const most = 10 * 1024

// maxRedirects bounds the redirects on the same host that are followed.
const maxRedirects = 10

// URL returns the URL of an HTTP probe.
func URL(get *corev1.HTTPGetAction, host string, port int) string {
	u, err := url.Parse(get.Path)
	if err != nil {
		u = &url.URL{Path: get.Path}
	}
	u.Scheme, u.Host = strings.ToLower(string(get.Scheme)), address(host, port)
	return u.String()
}

func address(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// HTTP sends a GET request with the user agent of a kubelet version such as "1.36". Any status from
// 200 to 399 is a success.
func HTTP(ctx context.Context, dial machine.Dial, at string, headers []corev1.HTTPHeader, version string) Answer {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return Answer{Output: err.Error()}
	}
	request.Header.Set("User-Agent", "kube-probe/"+version)
	request.Header.Set("Accept", "*/*")
	given := http.Header{}
	for _, h := range headers {
		given.Add(h.Name, h.Value)
	}
	for name, values := range given { // any order: names are independent
		request.Header[name] = values
	}
	request.Host = given.Get("Host")
	client := &http.Client{
		Transport: &http.Transport{
			DialContext:       dial,
			DisableKeepAlives: true, DisableCompression: true,
			// Like kubelets, this does not verify the certificate, because it is the pod's own.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		},
		CheckRedirect: follow,
	}
	response, err := client.Do(request)
	if err != nil {
		return Answer{Output: err.Error()}
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, most)) // drains the body
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
		return Answer{Output: fmt.Sprintf("HTTP probe failed with statuscode: %d", response.StatusCode)}
	}
	return Answer{OK: true}
}

// follow stays on the host.
func follow(to *http.Request, via []*http.Request) error {
	switch {
	case to.URL.Hostname() != via[0].URL.Hostname():
		return http.ErrUseLastResponse
	case len(via) >= maxRedirects:
		return errors.New("stopped after 10 redirects")
	}
	return nil
}

// TCP checks whether a server listens.
func TCP(ctx context.Context, dial machine.Dial, host string, port int) Answer {
	connection, err := dial(ctx, "tcp", address(host, port))
	if err != nil {
		return Answer{Output: err.Error()}
	}
	_ = connection.Close()
	return Answer{OK: true}
}

// GRPC asks the health service.
func GRPC(ctx context.Context, dial machine.Dial, host string, port int, service string) Answer {
	connection, err := grpc.NewClient("passthrough:///"+address(host, port), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, at string) (net.Conn, error) { return dial(ctx, "tcp", at) }))
	if err != nil {
		return Answer{Output: fmt.Sprintf("error: failed to connect service at %q: %v", address(host, port), err)}
	}
	defer connection.Close()
	answer, err := grpc_health_v1.NewHealthClient(connection).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return Answer{Output: "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): " + status.Convert(err).Message()}
	case err != nil:
		return Answer{Output: fmt.Sprintf("error: health rpc probe failed: %v", err)}
	case answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING:
		return Answer{Output: fmt.Sprintf("service unhealthy (responded with %q)", answer.GetStatus())}
	}
	return Answer{OK: true}
}
