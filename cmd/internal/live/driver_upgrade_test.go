package live

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// upgraded are the manifests of a driver. Each %s is the strategy of its DaemonSet or the tag of
// its image.
const upgraded = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: d.example.com}
spec: {attachRequired: false}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: driver, namespace: kube-system}
spec:
  selector: {matchLabels: {app: driver}}
  updateStrategy: {rollingUpdate: {%s}}
  template:
    metadata: {labels: {app: driver}}
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - name: registrar
        image: registry.local/csi-node-driver-registrar:v2.15.0
        args: [--csi-address=/csi/csi.sock, --kubelet-registration-path=/var/lib/kubelet/plugins/d/csi.sock]
        volumeMounts: [{name: socket, mountPath: /csi}, {name: registration, mountPath: /registration}]
      - name: driver
        image: registry.local/hostdir:%s
        args: [--endpoint=unix:///csi/csi.sock, --driver-name=d.example.com, --node-id=$(NODE), --state-dir=/var/lib/d, --node-state-dir=/var/lib/d-node]
        env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
        securityContext: {privileged: true}
        volumeMounts: [{name: socket, mountPath: /csi}, {name: kubelet, mountPath: /var/lib/kubelet, mountPropagation: Bidirectional}, {name: state, mountPath: /var/lib/d}]
      volumes:
      - {name: socket, hostPath: {path: /var/lib/kubelet/plugins/d, type: DirectoryOrCreate}}
      - {name: registration, hostPath: {path: /var/lib/kubelet/plugins_registry, type: Directory}}
      - {name: kubelet, hostPath: {path: /var/lib/kubelet, type: Directory}}
      - {name: state, hostPath: {path: /var/lib/d, type: DirectoryOrCreate}}
`

// Given a driver that kubectl deploys as a DaemonSet. When its image is set, its manifests are
// applied again, or it is rolled back, then its pods roll as on a real cluster, and each call shows
// the release that received it. C-DS-1 C-DS-3
func TestKubectlRollsADriver(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	if !namespaces.Entered() {
		t.Skip("volumes of programs take a mount namespace")
	}
	p := clitest.NewPlace(t, clitest.Build(t))
	hostdir := filepath.Join(p.Bin, "hostdir")
	script := func(name, text string) string {
		file := filepath.Join(p.Dir, name)
		require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755))
		return file
	}
	p.Write("cluster.yaml", clitest.Header+"cluster: {nodes: 3}\nimages:\n"+
		"  registry.local/csi-node-driver-registrar: "+script("registrar", fmt.Sprintf("export %s=1\nexec %s \"$@\"\n", clitest.AsRegistrar, os.Args[0]))+"\n"+
		"  registry.local/hostdir:v1: "+hostdir+"\n"+
		"  registry.local/hostdir:v2: "+script("v2", "exec "+hostdir+" \"$@\" --format=v2\n")+"\n")
	l := startUp(t, "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work)
	manifests := func(strategy, tag string) string {
		file := filepath.Join(l.home, tag+".yaml")
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, upgraded, strategy, tag), 0o600))
		return file
	}
	rolled := func(tag string) {
		t.Helper()
		l.kubectl("-n", "kube-system", "rollout", "status", "daemonset/driver", "--timeout=60s")
		images := l.kubectl("-n", "kube-system", "get", "pods", "-o", "jsonpath={.items[*].spec.containers[1].image}")
		assert.Equal(t, strings.Repeat(" registry.local/hostdir:"+tag, 3), " "+images)
	}
	registered := func() {
		t.Helper()
		require.Eventually(t, func() bool {
			return strings.Count(l.kubectl("get", "csinodes", "-o", "jsonpath={.items[*].spec.drivers[*].name}"), "d.example.com") == 3
		}, time.Minute, 50*time.Millisecond, "all kubelets register the driver")
	}
	l.kubectl("apply", "-f", manifests("maxUnavailable: 1", "v1"))
	rolled("v1")
	registered()

	l.kubectl("-n", "kube-system", "set", "image", "daemonset/driver", "driver=registry.local/hostdir:v2")
	rolled("v2")
	registered()
	l.kubectl("-n", "kube-system", "rollout", "undo", "daemonset/driver")
	rolled("v1")
	registered()
	l.kubectl("apply", "-f", manifests("maxSurge: 1, maxUnavailable: 0", "v2"))
	rolled("v2") // an old pod ends last, and can remove its successor's sockets
	assert.Regexp(t, `(?s)\n3 .*\n4 `, l.kubectl("-n", "kube-system", "rollout", "history", "daemonset/driver"))

	var releases []string
	for _, call := range regexp.MustCompile(`"node":"node-a","from":"kubelet","driver":"d.example.com","m":"Node/NodeGetInfo"[^\n]*?"release":"([^"]*)"`).FindAllStringSubmatch(l.onPage(), -1) {
		releases = append(releases, call[1])
	}
	require.GreaterOrEqual(t, len(releases), 3) // the last pod may lose its sockets
	assert.Equal(t, []string{"hostdir:v1", "hostdir:v2", "hostdir:v1"}, releases[:3])

	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd(), l.output.String())
}

// onPage returns the data of the cluster's page.
func (l *liveCluster) onPage() string {
	l.t.Helper()
	address := strings.TrimSpace(clitest.RunIn(l.t, l.environment(), "get", "page").Stdout)
	jar, err := cookiejar.New(nil)
	require.NoError(l.t, err)
	browser := &http.Client{Jar: jar}
	opened, err := browser.Get(address)
	require.NoError(l.t, err)
	require.NoError(l.t, opened.Body.Close())
	page, _, _ := strings.Cut(address, "?")
	return unpacked(l.t, browser, page+"news?epoch=0&chunks=0")
}
