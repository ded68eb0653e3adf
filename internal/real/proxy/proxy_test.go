package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/internal/world/trace"
)

// running is a proxy before hostdir, as a program on real sockets.
type running struct {
	t       *testing.T
	dir     string
	options proxy.Options
	end     context.CancelFunc
	ended   chan error
}

func start(t *testing.T) *running {
	dir := t.TempDir()
	r := &running{t: t, dir: dir, options: proxy.Options{
		Driver: "hostdir.csisim.dev", Node: "node-a", Upstream: dir + "/driver.sock", Records: dir + "/records", Token: "secret",
		Listen:  map[string]string{"kubelet": dir + "/csi.sock", "csi-provisioner": dir + "/provisioner.sock"},
		Command: []string{hostdir, "--endpoint=unix://" + dir + "/driver.sock", "--node-id=node-a", "--state-dir=" + dir + "/state"},
	}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r.options.Address = listener.Addr().String()
	listener.Close()
	r.run()
	return r
}

func (r *running) run() {
	ctx, end := context.WithCancel(context.Background())
	r.end, r.ended = end, make(chan error, 1)
	go func() { r.ended <- proxy.Run(ctx, r.options) }()
	r.t.Cleanup(r.stop)
	require.Eventually(r.t, func() bool {
		_, err := csi.NewIdentityClient(r.dial("kubelet")).Probe(r.t.Context(), &csi.ProbeRequest{})
		return err == nil
	}, time.Minute, 10*time.Millisecond)
}

func (r *running) stop() {
	if r.end != nil {
		r.end()
		assert.NoError(r.t, <-r.ended)
		r.end = nil
	}
}

func (r *running) dial(caller string) *grpc.ClientConn {
	conn, err := grpc.NewClient("unix://"+r.options.Listen[caller], grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(r.t, err)
	r.t.Cleanup(func() { conn.Close() })
	return conn
}

func (r *running) ask(method, path string, body any) *http.Response {
	text, err := json.Marshal(body)
	require.NoError(r.t, err)
	request, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.options.Address+path, bytes.NewReader(text))
	require.NoError(r.t, err)
	request.Header.Set(proxy.TokenHeader, "secret")
	response, err := http.DefaultClient.Do(request)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { response.Body.Close() })
	return response
}

func (r *running) done(method, path string, body any) {
	r.t.Helper()
	response := r.ask(method, path, body)
	text, _ := io.ReadAll(response.Body)
	require.Equal(r.t, http.StatusOK, response.StatusCode, string(text))
}

// calls returns the recorded calls, one per line, except calls of the Identity service.
func (r *running) calls() (lines []string) {
	for _, record := range r.records() {
		if record.K != trace.Call || strings.HasPrefix(record.M, "Identity/") {
			continue
		}
		line := record.From + " " + record.M + " " + record.Code
		if record.Open {
			line += "begins"
		}
		lines = append(lines, strings.TrimSpace(line+" "+record.Inj))
	}
	return lines
}

func (r *running) records() (all []proxy.Record) {
	for in := bufio.NewScanner(r.ask("GET", "/records", nil).Body); in.Scan(); {
		var record proxy.Record
		require.NoError(r.t, json.Unmarshal(in.Bytes(), &record))
		all = append(all, record)
	}
	return all
}

func (r *running) create(name string) (*csi.CreateVolumeResponse, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	return csi.NewControllerClient(r.dial("csi-provisioner")).CreateVolume(ctx, &csi.CreateVolumeRequest{
		Name: name, CapacityRange: &csi.CapacityRange{RequiredBytes: 1 << 20}, Secrets: map[string]string{"key": "hunter2"},
		VolumeCapabilities: []*csi.VolumeCapability{{
			AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
			AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
		}},
	})
}

func TestEveryCallIsRecordedWithItsCallerAndWithoutItsSecrets(t *testing.T) {
	r := start(t)
	_, err := r.create("pvc-1")
	require.NoError(t, err)
	_, err = csi.NewNodeClient(r.dial("kubelet")).NodeGetInfo(t.Context(), &csi.NodeGetInfoRequest{})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"csi-provisioner Controller/CreateVolume begins", "csi-provisioner Controller/CreateVolume",
		"kubelet Node/NodeGetInfo begins", "kubelet Node/NodeGetInfo",
	}, r.calls())
	begun := r.records()[slices.IndexFunc(r.records(), func(record proxy.Record) bool { return record.M == "Controller/CreateVolume" })]
	var request csi.CreateVolumeRequest
	require.NoError(t, proto.Unmarshal(begun.Request, &request))
	assert.Equal(t, "pvc-1", request.GetName())
	assert.Equal(t, map[string]string{"key": trace.Redacted}, request.GetSecrets())
	r.stop()
	written, err := filepath.Glob(r.dir + "/records/*")
	require.NoError(t, err)
	require.Len(t, written, 1)
	text, err := os.ReadFile(written[0])
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
	for _, content := range regexp.MustCompile(`"request":"([^"]*)"`).FindAllSubmatch(text, -1) {
		message, err := base64.StdEncoding.DecodeString(string(content[1]))
		require.NoError(t, err)
		assert.NotContains(t, string(message), "hunter2")
	}
}

// A newer CSI may have secrets in fields that the proxy does not know. They reach the driver from
// every caller, and are not recorded.
func TestUnknownFieldsAreNotRecorded(t *testing.T) {
	r := start(t)
	create := func() {
		t.Helper()
		request := &csi.CreateVolumeRequest{Name: "pvc-1", VolumeCapabilities: []*csi.VolumeCapability{{}}}
		request.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 5000, protowire.BytesType), "hunter3"))
		_, _ = csi.NewControllerClient(r.dial("csi-provisioner")).CreateVolume(t.Context(), request)
	}
	create()
	r.done("POST", "/faults", fault.Fault{Name: "other", Call: "DeleteVolume", Effect: fault.Answer, Code: codes.Internal})
	create()
	recorded := 0
	for _, record := range r.records() {
		if record.M == "Controller/CreateVolume" && record.Open {
			recorded++
			assert.Contains(t, string(record.Request), "pvc-1")
			assert.NotContains(t, string(record.Request), "hunter3")
		}
	}
	assert.Equal(t, 2, recorded)
}

// The records of a finished run are removed.
func TestRecordsAreRemoved(t *testing.T) {
	r := start(t)
	_, err := r.create("pvc-1")
	require.NoError(t, err)
	r.done("DELETE", "/records", nil)
	assert.NoDirExists(t, r.dir+"/records")
	_, err = r.create("pvc-2")
	require.NoError(t, err, "calls go on until the pod ends")
}

func TestFaultsApplyToCalls(t *testing.T) {
	r := start(t)
	r.done("POST", "/faults", fault.Fault{Name: "once", Call: "CreateVolume", Times: 1, Effect: fault.Answer, Code: codes.Internal, Message: "no"})
	_, err := r.create("pvc-1")
	assert.Equal(t, codes.Internal, status.Code(err))
	r.done("POST", "/faults", fault.Fault{Name: "lost", Call: "CreateVolume", Effect: fault.LoseAnswer, Code: codes.Unavailable})
	_, err = r.create("pvc-2")
	assert.Equal(t, codes.Unavailable, status.Code(err))
	r.done("DELETE", "/faults?name=lost", nil)
	answer, err := r.create("pvc-2")
	require.NoError(t, err)
	assert.NotEmpty(t, answer.GetVolume().GetVolumeId())
	var lost bool
	for _, record := range r.records() {
		lost = lost || record.K == trace.AnswerLost
	}
	assert.True(t, lost, "the driver made the volume, and its caller does not know it")
}

func TestTheDriverDiesAtACallAndRestarts(t *testing.T) {
	r := start(t)
	r.done("POST", "/faults", fault.Fault{Name: "die", Call: "CreateVolume", Times: 1, Effect: fault.Kill, Victim: fault.Driver, At: fault.BeforeAnswer, RestartAfter: 50 * time.Millisecond})
	_, err := r.create("pvc-1")
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.Contains(t, status.Convert(err).Message(), "EOF")
	require.Eventually(t, func() bool { _, err = r.create("pvc-1"); return err == nil }, time.Minute, 20*time.Millisecond)
	r.done("POST", "/driver/kill", nil)
	_, err = r.create("pvc-2")
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.NotContains(t, status.Convert(err).Message(), r.options.Upstream, "a caller knows its own socket only")
	assert.Contains(t, status.Convert(err).Message(), "dial unix "+r.options.Listen["csi-provisioner"]+":")
	r.done("POST", "/driver/start", nil)
	require.Eventually(t, func() bool { _, err = r.create("pvc-2"); return err == nil }, time.Minute, 20*time.Millisecond)
}

// A new proxy serves the records of a killed one.
func TestRecordsOutliveTheirProxy(t *testing.T) {
	r := start(t)
	_, err := r.create("pvc-1")
	require.NoError(t, err)
	r.stop()
	r.run()
	_, err = r.create("pvc-2")
	require.NoError(t, err)
	assert.Equal(t, []string{
		"csi-provisioner Controller/CreateVolume begins", "csi-provisioner Controller/CreateVolume",
		"csi-provisioner Controller/CreateVolume begins", "csi-provisioner Controller/CreateVolume",
	}, r.calls())
}

func TestACallEndsWithItsCallerWhileTheDriverHangs(t *testing.T) {
	r := start(t)
	r.done("POST", "/faults", fault.Fault{Name: "hang", Call: "CreateVolume", Effect: fault.Hang})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = csi.NewControllerClient(r.dial("csi-provisioner")).CreateVolume(ctx, &csi.CreateVolumeRequest{Name: "pvc-1"})
	}()
	require.Eventually(t, func() bool { return len(r.calls()) == 1 }, time.Minute, 10*time.Millisecond)
	cancel()
	require.Eventually(t, func() bool { return len(r.calls()) == 2 }, time.Minute, 10*time.Millisecond)
	assert.Equal(t, "csi-provisioner Controller/CreateVolume Canceled hung, driver did not see it", r.calls()[1])
}

func TestRequestsNeedTheToken(t *testing.T) {
	r := start(t)
	for _, path := range []string{"/records", "/faults"} {
		response, err := http.Get("http://" + r.options.Address + path)
		require.NoError(t, err)
		response.Body.Close()
		assert.Equal(t, http.StatusForbidden, response.StatusCode)
	}
}

// hostdir is the path of the reference driver's program.
var hostdir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "")
	if err == nil {
		hostdir = filepath.Join(dir, "hostdir")
		err = exec.Command("go", "build", "-trimpath", "-o", hostdir, "github.com/csisim/csisim/drivers/hostdir").Run()
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
