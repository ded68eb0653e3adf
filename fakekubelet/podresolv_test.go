package fakekubelet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// (kubernetes v1.36.3, pkg/kubelet/network/dns/dns.go: GetPodDNS, getPodDNSType, appendDNSConfig)
func TestTheNameServersOfAPod(t *testing.T) {
	const (
		node    = "# of the laptop\nnameserver 127.0.0.53\nnameserver 192.168.1.1\nsearch home.lan .\noptions edns0 trust-ad\n"
		cluster = "search shop.svc.cluster.local svc.cluster.local cluster.local home.lan\nnameserver 10.96.0.10\noptions ndots:5\n"
		nodes   = "search home.lan\nnameserver 10.96.0.10\nnameserver 192.168.1.1\noptions edns0 trust-ad\n"
	)
	two := "2"
	config := &corev1.PodDNSConfig{
		Nameservers: []string{"1.1.1.1", "10.96.0.10"}, Searches: []string{"example.com", "home.lan"},
		Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: &two}, {Name: "rotate"}},
	}
	for name, try := range map[string]struct {
		spec     corev1.PodSpec
		expected string
	}{
		"the cluster's":                    {corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst}, cluster},
		"the node's in its network":        {corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst, HostNetwork: true}, nodes},
		"the cluster's in that, if wanted": {corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirstWithHostNet, HostNetwork: true}, cluster},
		"the node's":                       {corev1.PodSpec{DNSPolicy: corev1.DNSDefault}, nodes},
		"nothing":                          {corev1.PodSpec{DNSPolicy: corev1.DNSNone}, ""},
		"the configuration of the pod": {corev1.PodSpec{DNSPolicy: corev1.DNSNone, DNSConfig: config},
			"search example.com home.lan\nnameserver 1.1.1.1\nnameserver 10.96.0.10\noptions ndots:2 rotate\n"},
		"that besides the cluster's": {corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst, DNSConfig: config},
			"search shop.svc.cluster.local svc.cluster.local cluster.local home.lan example.com\nnameserver 10.96.0.10\nnameserver 1.1.1.1\noptions ndots:2 rotate\n"},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: try.spec}
		assert.Equal(t, try.expected, resolvConfOf(pod, "10.96.0.10", node).String(), name)
	}
}
