package kind_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func service(name string, kind corev1.ServiceType, ports ...int32) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: corev1.ServiceSpec{Type: kind}}
	for _, port := range ports {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: fmt.Sprintf("port-%d", port), Port: port})
	}
	if kind == corev1.ServiceTypeExternalName {
		s.Spec.ExternalName = "db.example.com"
	}
	return s
}

func TestServicesGetAddressesAndPorts(t *testing.T) {
	s := kind.NewStore(store.Options{})
	first := kindtest.Create(t, s, service("first", "", 80))
	assert.Equal(t, "10.96.0.11", first.Spec.ClusterIP)
	assert.Equal(t, []string{"10.96.0.11"}, first.Spec.ClusterIPs)
	assert.Equal(t, corev1.ServiceTypeClusterIP, first.Spec.Type)
	assert.Equal(t, int32(80), first.Spec.Ports[0].TargetPort.IntVal)
	assert.Equal(t, corev1.ProtocolTCP, first.Spec.Ports[0].Protocol)

	second := kindtest.Create(t, s, service("second", corev1.ServiceTypeNodePort, 80, 81))
	assert.Equal(t, "10.96.0.12", second.Spec.ClusterIP)
	assert.Equal(t, []int32{30000, 30001}, []int32{second.Spec.Ports[0].NodePort, second.Spec.Ports[1].NodePort})

	kindtest.Remove[*corev1.Service](t, s, kindtest.InDefault("first"))
	assert.Equal(t, "10.96.0.11", kindtest.Create(t, s, service("third", "", 80)).Spec.ClusterIP, "an address is free with its service")

	headless := service("headless", "", 80)
	headless.Spec.ClusterIP = corev1.ClusterIPNone
	assert.Equal(t, []string{corev1.ClusterIPNone}, kindtest.Create(t, s, headless).Spec.ClusterIPs)
	name := service("name", corev1.ServiceTypeExternalName)
	assert.Empty(t, kindtest.Create(t, s, name).Spec.ClusterIP)
}

func TestAServiceKeepsItsAddress(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, service("web", "", 80))
	changed := kindtest.Modify(t, s, kindtest.InDefault("web"), func(s *corev1.Service) {
		s.Spec.ClusterIP, s.Spec.ClusterIPs, s.Spec.Selector = "", nil, map[string]string{"app": "web"}
	})
	assert.Equal(t, "10.96.0.11", changed.Spec.ClusterIP)
	_, err := store.Modify(s, kindtest.InDefault("web"), func(s *corev1.Service) { s.Spec.ClusterIP = "10.96.1.1" })
	assert.ErrorContains(t, err, "may not change once set")

	taken := service("taken", "", 80)
	taken.Spec.ClusterIP = "10.96.0.11"
	_, err = store.Create(s, taken)
	assert.EqualError(t, err, `Service "taken" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.11"]: failed to allocate IP 10.96.0.11: provided IP is already allocated`)
}
