package fakekubelet

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/prometheus/common/expfmt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/metric"
)

// Port is the port of a kubelet's pages. [pkg/cluster/ports KubeletPort]
const Port = 10250

// Page returns the answer of the kubelet's server to a request; false if it has no such page.
// [pkg/kubelet/server/server.go InstallDefaultHandlers]
func (k *Kubelet) Page(path string) (contentType string, body []byte, ok bool) {
	switch path {
	case "/metrics":
		var text bytes.Buffer
		if metric.WriteText(&text, &k.Metrics) != nil {
			return "", nil, false
		}
		return string(expfmt.NewFormat(expfmt.TypeTextPlain)), text.Bytes(), true
	case "/stats/summary", "/stats/summary/":
		return page(k.summary())
	case "/pods", "/pods/":
		return page(k.podList())
	case "/healthz":
		return "text/plain; charset=utf-8", []byte("ok"), true
	}
	return "", nil, false
}

func page(value any) (contentType string, body []byte, ok bool) {
	body, err := json.Marshal(value)
	return "application/json", body, err == nil
}

// podList returns the list of the node's pods in the kubelet.
func (k *Kubelet) podList() *corev1.PodList {
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{}}
	for _, uid := range slices.Sorted(maps.Keys(k.pods.known)) {
		list.Items = append(list.Items, *k.pods.known[uid])
	}
	return list
}
