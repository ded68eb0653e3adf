package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/real/image"
)

// The page says for each kind of program which ways lead to the machine, as root and as an ordinary
// user. A hostile driver and hostile pods try each way.
func TestProgramsReachOfTheMachineWhatThePageSays(t *testing.T) {
	needsNetworks(t)
	if !isRoot() {
		t.Skip("root tries as both users")
	}
	bin := build(t)
	t.Parallel() // the test mostly waits
	documented := reachTable(t)
	for _, user := range []string{"root", "user"} {
		t.Run(user, func(t *testing.T) {
			reached := map[string]map[string]string{"driver": hostileDriver(t, bin, user)}
			for kind, ways := range hostilePods(t, bin, user) {
				reached[kind] = ways
			}
			for kind, ways := range reached {
				for way, got := range ways {
					if got == otherwise {
						continue
					}
					assert.Equal(t, documented[way][kind+", "+user], got, "%s: %s as %s", way, kind, user)
				}
				assert.Len(t, ways, len(documented), kind)
			}
		})
	}
	t.Run("root with --rootless", func(t *testing.T) {
		for way, got := range hostileDriver(t, bin, "root", "--rootless") {
			assert.Equal(t, documented[way]["driver, user"], got, way)
		}
	})
}

// otherwise is the cell of a way for which a machine without /dev/net/tun is judged by the text below
// the table.
const otherwise = "otherwise"

// reachTable returns the cells of the page's table, by their rows and columns.
func reachTable(t *testing.T) map[string]map[string]string {
	page, err := os.ReadFile("../../docs/explanation/isolation.md")
	require.NoError(t, err)
	rows := map[string]map[string]string{}
	var columns []string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "Way to the machine":
			columns = cells[1:]
		case columns == nil || strings.HasPrefix(cells[0], "---"):
		case len(cells) != len(columns)+1:
			return rows
		default:
			rows[cells[0]] = map[string]string{}
			for i, column := range columns {
				rows[cells[0]][column] = cells[i+1]
			}
		}
	}
	return rows
}

// bait has the files and processes of the machine that a hostile program tries to reach.
type bait struct {
	*place
	file    string
	words   []string
	hostile string
}

func newBait(t *testing.T, bin, user string) *bait {
	p := newPlace(t, bin)
	b := &bait{place: p, file: filepath.Join(p.dir, "marker"), hostile: filepath.Join(bin, "hostile")}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./testdata/hostile")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	disk := filepath.Join(p.dir, "disk")
	require.NoError(t, os.WriteFile(disk, make([]byte, 1<<20), 0o644))
	loop := "0"
	if user == "root" {
		device, err := exec.Command("losetup", "--find", "--show", disk).Output()
		if err != nil {
			t.Skip("no loop devices here: ", err)
		}
		name := strings.TrimSpace(string(device))
		t.Cleanup(func() { require.NoError(t, exec.Command("losetup", "--detach", name).Run()) })
		loop = strings.TrimPrefix(name, "/dev/loop")
	}
	segment, err := unix.SysvShmGet(0x63736973, 4096, unix.IPC_CREAT|0o666)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(segment, unix.IPC_RMID, nil) })
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	victim := exec.Command("sleep", "1h")
	require.NoError(t, victim.Start())
	t.Cleanup(func() { _, _ = victim.Process.Kill(), victim.Wait() })
	network, err := os.Readlink("/proc/self/ns/net")
	require.NoError(t, err)
	b.words = []string{
		"file=" + b.file, "dev=" + filepath.Base(b.device()), "loop=" + loop, fmt.Sprint("pid=", victim.Process.Pid), "process=sleep", fmt.Sprint("key=", 0x63736973),
		`"net=` + network + `"`, "address=" + listener.Addr().String(),
	}
	return b
}

// device is a file beside the machine's device nodes.
func (b *bait) device() string { return "/dev/csisim-" + filepath.Base(b.dir) }

// ways returns the hostile program's report by the names of the ways.
func (b *bait) ways(report string) map[string]string {
	ways := map[string]string{}
	for _, line := range regexp.MustCompile(`hostile: ([^:\n]+): (yes|no)`).FindAllStringSubmatch(report, -1) {
		ways[line[1]] = map[string]string{"yes": "yes", "no": "–"}[line[2]]
	}
	if _, err := os.Stat(b.file); err != nil && len(ways) > 0 {
		ways["write a file"] = "–" // it was the node's own
	}
	if err := os.Remove(b.device()); err != nil && len(ways) > 0 {
		ways["make a file in /dev"] = "–" // likewise
	}
	return ways
}

// hostileDriver returns the ways of a driver program of csisim run.
func hostileDriver(t *testing.T, bin, user string, flags ...string) map[string]string {
	b := newBait(t, bin, user)
	hostile := b.hostile + ", " + strings.Join(b.words, ", ") + ", --, " + filepath.Join(bin, "hostdir") + ", "
	b.write("s.yaml", header+strings.Replace(hostdirDriver, "[hostdir, ", "["+hostile, 1)+hostdirObjects)
	c := b.command(append(append([]string{"run"}, flags...), "--keep", "s.yaml")...)
	if user != "root" {
		b.asUnprivileged(c)
	} else if len(flags) > 0 {
		require.NoError(t, os.Chown(b.work, 65534, 65534))
	}
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	var report strings.Builder
	for _, pattern := range []string{"*/*/*node*.log", "*/*node*.log", "*/*/*/*node*.log"} {
		logs, err := filepath.Glob(filepath.Join(b.work, pattern))
		require.NoError(t, err)
		for _, log := range logs {
			text, err := os.ReadFile(log)
			require.NoError(t, err)
			report.Write(text)
		}
	}
	t.Log(report.String())
	return b.ways(report.String())
}

const hostilePod = `
metadata: {name: %s}
spec:
  restartPolicy: Never
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - name: main
    image: %s
    args: [%s]
    securityContext: {privileged: %t}
    volumeMounts: [{name: data, mountPath: /data}]
`

// hostilePods returns the ways of pods of csisim up, by the kinds of pods.
func hostilePods(t *testing.T, bin, user string) map[string]map[string]string {
	kinds := map[string]map[string]string{}
	for kind, of := range map[string]struct {
		image      string
		privileged bool
	}{"program": {"registry.local/program", false}, "pod": {"registry.local/root", false}, "privileged": {"registry.local/root", true}} {
		b := newBait(t, bin, user)
		tar, err := os.Create(filepath.Join(b.dir, "root.tar"))
		require.NoError(t, err)
		require.NoError(t, image.Write(tar, runtime.GOARCH, image.Image{Names: []string{"registry.local/root:1"}, Files: map[string]string{"/hostile": b.hostile}, Entrypoint: []string{"/hostile"}}))
		require.NoError(t, tar.Close())
		b.write("cluster.yaml", header+"cluster: {nodes: 1}\nimages: {registry.local/root: ./root.tar, registry.local/program: "+b.hostile+"}\ndrivers: [{name: a.example.com, mock: {}}]\n")
		c := b.command("up", "-f", "cluster.yaml", "--kubeconfig", "config")
		c.Env = append(c.Env, "HOME="+b.dir, "XDG_CACHE_HOME="+b.dir)
		if user != "root" {
			b.asUnprivileged(c)
		}
		var output bytes.Buffer
		c.Stdout, c.Stderr = &output, &output
		require.NoError(t, c.Start())
		config := filepath.Join(b.dir, "config")
		require.Eventually(t, func() bool { _, err := os.Stat(config); return err == nil }, 30*time.Second, 10*time.Millisecond, &output)
		access, err := clientcmd.BuildConfigFromFlags("", config)
		require.NoError(t, err)
		client := kubernetes.NewForConfigOrDie(access)
		pod := &corev1.Pod{}
		require.NoError(t, yaml.UnmarshalStrict(fmt.Appendf(nil, hostilePod, kind, of.image, strings.Join(b.words, ", "), of.privileged), pod))
		_, err = client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			pod, err = client.CoreV1().Pods("default").Get(t.Context(), kind, metav1.GetOptions{})
			return err == nil && inPhase(corev1.PodSucceeded)(pod)
		}, 30*time.Second, 20*time.Millisecond, "%v", pod)
		log, err := client.CoreV1().Pods("default").GetLogs(kind, &corev1.PodLogOptions{}).DoRaw(t.Context())
		require.NoError(t, err)
		t.Logf("%s\n%s", kind, log)
		kinds[kind] = b.ways(string(log))
		require.NoError(t, c.Process.Signal(syscall.SIGTERM))
		_ = c.Wait() // its code is that of the signal
		if strings.Contains(output.String(), "/dev/net/tun") {
			const loopback = "connect to loopback"
			assert.Equal(t, "yes", kinds[kind][loopback], "pods share the network of the machine, as the page says below its table")
			kinds[kind][loopback] = otherwise
		}
	}
	return kinds
}
