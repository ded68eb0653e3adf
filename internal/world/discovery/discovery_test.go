package discovery_test

import (
	"iter"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	_ "github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/discovery"
	"github.com/csisim/csisim/internal/world/store"
)

// cluster has objects of two kinds.
type cluster []store.Object

func (c cluster) GetObject(res *store.Resource, key store.Key) (store.Object, bool) {
	for o := range c.ListObjects(res, key.Namespace) {
		if store.KeyOf(o) == key {
			return o, true
		}
	}
	return nil, false
}

func (c cluster) ListObjects(res *store.Resource, namespace string) iter.Seq[store.Object] {
	return func(yield func(store.Object) bool) {
		for _, o := range c {
			_, isService := o.(*corev1.Service)
			if isService == (res.GVR.Resource == "services") && (namespace == "" || store.KeyOf(o).Namespace == namespace) && !yield(o) {
				return
			}
		}
	}
}

func (c cluster) IndexedObjects(*store.Resource, store.Index, string) iter.Seq[store.Object] {
	panic("not asked")
}

func service(name, address string, ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.ServiceSpec{ClusterIP: address, Ports: ports}}
}

func slice(of string, ports []discoveryv1.EndpointPort, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: of + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: of}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: ports, Endpoints: endpoints,
	}
}

func port(name string, number int32) discoveryv1.EndpointPort {
	return discoveryv1.EndpointPort{Name: &name, Port: &number, Protocol: new(corev1.ProtocolTCP)}
}

func endpoint(address, hostname string, ready bool) discoveryv1.Endpoint {
	e := discoveryv1.Endpoint{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}
	if hostname != "" {
		e.Hostname = &hostname
	}
	return e
}

// shop has a service with two ports, a service without pods, a headless service, and a service with
// an external name.
var shop = cluster{
	service("web", "10.96.0.11", corev1.ServicePort{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}, corev1.ServicePort{Name: "https", Port: 443, Protocol: corev1.ProtocolTCP}),
	slice("web", []discoveryv1.EndpointPort{port("http", 8080), port("https", 8443)},
		endpoint("10.244.0.2", "", true), endpoint("10.244.0.3", "", false), endpoint("10.244.1.2", "", true)),
	service("idle", "10.96.0.12", corev1.ServicePort{Port: 80, Protocol: corev1.ProtocolTCP}),
	service("db", corev1.ClusterIPNone, corev1.ServicePort{Name: "sql", Port: 5432, Protocol: corev1.ProtocolTCP}),
	slice("db", []discoveryv1.EndpointPort{port("sql", 5432)}, endpoint("10.244.0.5", "db-0", true), endpoint("10.244.0.6", "db-1", false), endpoint("10.244.0.7", "", true)),
	&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "far"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "db.example.com"}},
}

func TestAServicesAddressLeadsToPodsThatAreReady(t *testing.T) {
	for _, try := range []struct {
		at, protocol string
		expected     []string
		known        bool
	}{
		{"10.96.0.11:80", "tcp", []string{"10.244.0.2:8080", "10.244.1.2:8080"}, true},
		{"10.96.0.11:443", "tcp", []string{"10.244.0.2:8443", "10.244.1.2:8443"}, true},
		{"10.96.0.11:80", "udp", nil, false},
		{"10.96.0.11:81", "tcp", nil, false},
		{"10.96.0.12:80", "tcp", nil, true},
		{"10.96.0.99:80", "tcp", nil, false},
	} {
		found, known := discovery.Backends(shop, netip.MustParseAddrPort(try.at), try.protocol)
		var texts []string
		for _, f := range found {
			texts = append(texts, f.String())
		}
		assert.Equal(t, try.expected, texts, try.at)
		assert.Equal(t, try.known, known, try.at)
	}
}

// [kubernetes/dns, docs/specification.md, 2.3 and 2.4]
func TestNamesOfServices(t *testing.T) {
	for name, expected := range map[string][]string{
		"web.shop.svc.cluster.local":            {"10.96.0.11"},
		"idle.shop.svc.cluster.local":           {"10.96.0.12"},
		"db.shop.svc.cluster.local":             {"10.244.0.5", "10.244.0.7"},
		"db-0.db.shop.svc.cluster.local":        {"10.244.0.5"},
		"10-244-0-7.db.shop.svc.cluster.local":  {"10.244.0.7"},
		"10-244-0-9.shop.pod.cluster.local":     {"10.244.0.9"},
		"db-1.db.shop.svc.cluster.local":        nil, // it is not ready
		"db-2.db.shop.svc.cluster.local":        nil,
		"web.default.svc.cluster.local":         nil,
		"nobody.shop.svc.cluster.local":         nil,
		"shop.svc.cluster.local":                nil,
		"svc.cluster.local":                     nil,
		"cluster.local":                         nil,
		"a.b.web.shop.svc.cluster.local":        nil,
		"_http._tcp.web.shop.svc.cluster.local": nil,
		"web.shop.other.cluster.local":          nil,
		"web.shop.svc.cluster.lan":              nil,
		"not-an-address.shop.pod.cluster.local": nil,
	} {
		found, known := discovery.Addresses(shop, name)
		assert.Equal(t, expected != nil, known, name)
		var texts []string
		for _, f := range found {
			if known {
				texts = append(texts, f.String())
			}
		}
		assert.Equal(t, expected, texts, name)
	}
}

func TestNamesOfPortsAndOtherNames(t *testing.T) {
	for name, expected := range map[string][]net.SRV{
		"_http._tcp.web.shop.svc.cluster.local": {{Target: "web.shop.svc.cluster.local", Port: 80}},
		"_sql._tcp.db.shop.svc.cluster.local": {
			{Target: "db-0.db.shop.svc.cluster.local", Port: 5432}, {Target: "10-244-0-7.db.shop.svc.cluster.local", Port: 5432},
		},
		"_http._udp.web.shop.svc.cluster.local":  nil,
		"_grpc._tcp.web.shop.svc.cluster.local":  nil,
		"_http._tcp.none.shop.svc.cluster.local": nil,
		"web.shop.svc.cluster.local":             nil,
	} {
		found, known := discovery.Ports(shop, name)
		assert.Equal(t, expected != nil, known, name)
		assert.Equal(t, expected, found, name)
	}
	assert.Equal(t, "db.example.com", discovery.Alias(shop, "far.shop.svc.cluster.local"))
	assert.Empty(t, discovery.Alias(shop, "web.shop.svc.cluster.local"))
	assert.Empty(t, discovery.Alias(shop, "a.far.shop.svc.cluster.local"))
}
