package live

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/image"
)

// The page lists, for each kind of program, the possible ways to the machine, as root and as an
// ordinary user. A hostile driver and hostile pods try each way.
func TestThePageShowsTheReachOfPrograms(t *testing.T) {
	needsNetworks(t)
	if !clitest.IsRoot() {
		t.Skip("root tries as both users")
	}
	bin := clitest.Build(t)
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
	for column, flags := range map[string][]string{"driver, `--rootless`": {"--rootless"}, "driver, root, `own`": {"--network", "own"}} {
		t.Run("root with "+strings.Join(flags, " "), func(t *testing.T) {
			ways := hostileDriver(t, bin, "root", flags...)
			for way, got := range ways {
				if got != otherwise {
					assert.Equal(t, documented[way][column], got, way)
				}
			}
			assert.Len(t, ways, len(documented))
		})
	}
}

// Given a server on loopback, when the driver's command names its address, then the driver reaches
// it from a separate network.
func TestADriverReachesTheAddressesOfItsScenario(t *testing.T) {
	needsNetworks(t)
	b := newBait(t, clitest.Build(t))
	b.words = append(b.words, "server=http://"+b.address)
	assert.Equal(t, "yes", b.driver(t, "root", "--network", "own")["connect to loopback"])
}

// otherwise is the cell for a way that this machine lacks. It is also the cell for a way that, on
// machines without /dev/net/tun, the text below the table describes.
const otherwise = "otherwise"

// reachTable returns the cells of the page's table, by their rows and columns.
func reachTable(t *testing.T) map[string]map[string]string {
	page, err := os.ReadFile("../../../docs/reference/reach.md")
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
	*clitest.Place
	file    string
	name    string // of a queue, a socket, a key, a control group
	words   []string
	hostile string
	address string // of a server on loopback
}

func newBait(t *testing.T, bin string) *bait {
	p := clitest.NewPlace(t, bin)
	b := &bait{Place: p, file: filepath.Join(p.Dir, "marker"), hostile: filepath.Join(bin, "hostile")}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./testdata/hostile")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	disk := filepath.Join(p.Dir, "disk")
	require.NoError(t, os.WriteFile(disk, make([]byte, 1<<20), 0o644))
	loop := "0"
	if clitest.IsRoot() { // other users may not create device nodes
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
	b.address = listener.Addr().String()
	b.putMore(t)
	b.words = append(b.words,
		"file="+b.file, "dev="+filepath.Base(b.device()), "loop="+loop, fmt.Sprint("pid=", victim.Process.Pid), "process=sleep", fmt.Sprint("key=", 0x63736973),
		// The port is without a host, so that the scenario does not contain the address.
		`"net=`+network+`"`, fmt.Sprint("port=", listener.Addr().(*net.TCPAddr).Port),
	)
	return b
}

// putMore creates queues, a socket without a file, and a control group. It names them and the
// namespaces of the machine.
func (b *bait) putMore(t *testing.T) {
	b.name = "csisim-" + filepath.Base(b.Dir)
	_, _, failed := unix.Syscall(unix.SYS_MSGGET, 0x63736973, unix.IPC_CREAT|0o666, 0)
	require.Zero(t, failed)
	queue, _, _ := unix.Syscall(unix.SYS_MSGGET, 0x63736973, 0, 0)
	t.Cleanup(func() { _, _, _ = unix.Syscall(unix.SYS_MSGCTL, queue, unix.IPC_RMID, 0) })
	name, err := unix.BytePtrFromString(b.name)
	require.NoError(t, err)
	descriptor, _, failed := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_RDWR, 0o666, 0, 0, 0)
	require.Zero(t, failed)
	require.NoError(t, unix.Close(int(descriptor)))
	t.Cleanup(func() { _, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0) })
	abstract, err := net.Listen("unix", "@"+b.name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, abstract.Close()) })
	b.words = append(b.words, "queue="+b.name, "abstract="+b.name, "secret="+b.name)
	for _, dir := range []string{"/sys/fs/cgroup/unified", "/sys/fs/cgroup"} {
		if group := filepath.Join(dir, b.name); os.Mkdir(group, 0o755) == nil {
			t.Cleanup(func() { require.NoError(t, os.Remove(group)) })
			b.words = append(b.words, "group="+b.name)
			break
		}
	}
	for _, kind := range []string{"uts", "mnt"} {
		id, err := os.Readlink("/proc/self/ns/" + kind)
		require.NoError(t, err)
		b.words = append(b.words, fmt.Sprintf("%q", kind+"="+id))
	}
}

// withKey makes a command start as a program with a key in its session. Hostile programs search for
// this key.
func (b *bait) withKey(c *exec.Cmd) {
	c.Args = append([]string{b.hostile, "put=" + b.name, "--", c.Path}, c.Args[1:]...)
	c.Path = b.hostile
}

// device is a file beside the machine's device nodes.
func (b *bait) device() string { return "/dev/csisim-" + filepath.Base(b.Dir) }

// plain returns the words without the quotes of YAML.
func (b *bait) plain() (words []string) {
	for _, word := range b.words {
		words = append(words, strings.Trim(word, `"`))
	}
	return words
}

// ways returns the report of the hostile program as a map from ways to results.
func (b *bait) ways(report string) map[string]string {
	ways := reported(report)
	if _, err := os.Stat(b.file); err != nil && len(ways) > 0 {
		ways["write a file"] = "–" // it belonged to the node
	}
	if err := os.Remove(b.device()); err != nil && len(ways) > 0 {
		ways["make a file in /dev"] = "–" // likewise
	}
	return ways
}

// reported parses a report into a map from ways to results.
func reported(report string) map[string]string {
	ways := map[string]string{}
	for _, line := range regexp.MustCompile(`hostile: ([^:\n]+): (yes|no|absent)`).FindAllStringSubmatch(report, -1) {
		ways[line[1]] = map[string]string{"yes": "yes", "no": "–", "absent": otherwise}[line[2]]
	}
	return ways
}

// hostileDriver returns the ways to the machine that both plugins of a driver program find under
// csisim run.
func hostileDriver(t *testing.T, bin, user string, flags ...string) map[string]string {
	return newBait(t, bin).driver(t, user, flags...)
}

func (b *bait) driver(t *testing.T, user string, flags ...string) map[string]string {
	hostile := b.hostile + ", " + strings.Join(b.words, ", ") + ", --, " + filepath.Join(b.Bin, "hostdir") + ", "
	b.Write("s.yaml", clitest.Header+strings.Replace(clitest.HostdirDriver, "[hostdir, ", "["+hostile, 1)+clitest.HostdirObjects)
	c := b.Command(append(append([]string{"run"}, flags...), "--keep", "s.yaml")...)
	b.withKey(c)
	if user != "root" {
		b.AsUnprivileged(c)
	} else if slices.Contains(flags, "--rootless") {
		require.NoError(t, os.Chown(b.Work, 65534, 65534))
	}
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	node, controller := b.logged(t, "node-a"), b.logged(t, "control-plane")
	t.Logf("%s\ncontroller plugin:\n%s", node, controller)
	assert.Equal(t, reported(node), reported(controller))
	return b.ways(node)
}

// logged returns the log of a plugin.
func (b *bait) logged(t *testing.T, machine string) string {
	logs, err := filepath.Glob(filepath.Join(b.Work, "csisim-logs-*", "*", "*"+machine+"*.log"))
	require.NoError(t, err)
	require.Len(t, logs, 1, machine)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	return string(text)
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

const hostileExec = `
metadata: {name: exec}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - name: main
    image: %s
    args: [wait=long]
    securityContext: {privileged: %t}
    volumeMounts: [{name: data, mountPath: /data}]
`

// hostilePods returns the ways to the machine that pods of csisim up find, by the kind of pod.
func hostilePods(t *testing.T, bin, user string) map[string]map[string]string {
	kinds := map[string]map[string]string{}
	for kind, of := range map[string]struct {
		image, program string
		privileged     bool
	}{
		"program": {"registry.local/program", filepath.Join(bin, "hostile"), false}, "pod": {"registry.local/root", "/hostile", false}, "privileged": {"registry.local/root", "/hostile", true},
	} {
		b := newBait(t, bin)
		tar, err := os.Create(filepath.Join(b.Dir, "root.tar"))
		require.NoError(t, err)
		require.NoError(t, image.Write(tar, runtime.GOARCH, image.Image{Names: []string{"registry.local/root:1"}, Files: map[string]string{"/hostile": b.hostile}, Entrypoint: []string{"/hostile"}}))
		require.NoError(t, tar.Close())
		b.Write("cluster.yaml", clitest.Header+"cluster: {nodes: 1}\nimages: {registry.local/root: ./root.tar, registry.local/program: "+b.hostile+"}\ndrivers: [{name: a.example.com, mock: {}}]\n")
		c := b.Command("up", "-f", "cluster.yaml", "--kubeconfig", "config")
		c.Env = append(c.Env, "HOME="+b.Dir, "XDG_CACHE_HOME="+b.Dir)
		b.withKey(c)
		if user != "root" {
			b.AsUnprivileged(c)
		}
		var output bytes.Buffer
		c.Stdout, c.Stderr = &output, &output
		require.NoError(t, c.Start())
		config := filepath.Join(b.Dir, "config")
		require.Eventually(t, func() bool { _, err := os.Stat(config); return err == nil }, time.Minute, 10*time.Millisecond, &output)
		access, err := clientcmd.BuildConfigFromFlags("", config)
		require.NoError(t, err)
		client := kubernetes.NewForConfigOrDie(access)
		create := func(until corev1.PodPhase, manifest string, values ...any) {
			pod := &corev1.Pod{}
			require.NoError(t, yaml.UnmarshalStrict(fmt.Appendf(nil, manifest, values...), pod))
			made, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				pod, err = client.CoreV1().Pods("default").Get(t.Context(), made.Name, metav1.GetOptions{})
				return err == nil && inPhase(until)(pod)
			}, time.Minute, 20*time.Millisecond, "%v", pod)
		}
		create(corev1.PodSucceeded, hostilePod, kind, of.image, strings.Join(b.words, ", "), of.privileged)
		create(corev1.PodRunning, hostileExec, of.image, of.privileged)
		log, err := client.CoreV1().Pods("default").GetLogs(kind, &corev1.PodLogOptions{}).DoRaw(t.Context())
		require.NoError(t, err)
		t.Logf("%s\n%s", kind, log)
		kinds[kind] = b.ways(string(log))
		_, added := execute(t, access, "exec", "main", append([]string{of.program}, b.plain()...)...)
		assert.Equal(t, kinds[kind], b.ways(added), "a program that exec or a hook starts in a %s", kind)
		require.NoError(t, c.Process.Signal(syscall.SIGTERM))
		_ = c.Wait() // its exit code reports the signal
		if strings.Contains(output.String(), "/dev/net/tun") {
			for _, way := range []string{"connect to loopback", "connect to an abstract socket"} {
				assert.Equal(t, "yes", kinds[kind][way], "pods share the network of the machine, as the page says below its table")
				kinds[kind][way] = otherwise
			}
		}
	}
	return kinds
}
