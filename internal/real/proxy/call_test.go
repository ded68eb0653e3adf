package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/csisim/csisim/drivers/fault"
)

// echo is a driver that repeats the request in its answer.
type echo struct {
	csi.UnimplementedControllerServer
	asked func(*csi.CreateVolumeRequest)
}

func (e echo) CreateVolume(_ context.Context, r *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	e.asked(r)
	if strings.HasPrefix(r.GetName(), "bad") {
		return nil, status.Error(codes.OutOfRange, "100 % of "+r.GetName()+" is too much – ü")
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: r.GetName(), VolumeContext: r.GetParameters()}}, nil
}

// before returns a client of a proxy before echo, and the proxy.
func before(t *testing.T) (csi.ControllerClient, *Proxy) {
	return beforeDriver(t, echo{asked: func(*csi.CreateVolumeRequest) {}})
}

func beforeDriver(t *testing.T, driver echo) (csi.ControllerClient, *Proxy) {
	dir := t.TempDir()
	listener, err := net.Listen("unix", dir+"/driver.sock")
	require.NoError(t, err)
	server := grpc.NewServer(grpc.UnknownServiceHandler(parrot))
	csi.RegisterControllerServer(server, driver)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	p, err := start(Options{Driver: "d", Upstream: dir + "/driver.sock", Records: dir + "/records", Listen: map[string]string{"csi-provisioner": dir + "/csi.sock"}})
	require.NoError(t, err)
	live, end := context.WithCancel(context.Background())
	failed, ran := make(chan error, 3), make(chan struct{})
	require.NoError(t, p.listen(live, failed))
	go func() { defer close(ran); p.world.Kernel.RunLive(live.Done(), 1) }()
	t.Cleanup(func() {
		end()
		<-ran
		assert.NoError(t, p.close())
		assert.Empty(t, failed)
	})
	conn, err := grpc.NewClient("unix://"+dir+"/csi.sock", grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return csi.NewControllerClient(conn), p
}

func (p *Proxy) inject(f fault.Fault) {
	p.do(func() { p.wire.Faults.Inject(&f) })
}

func (p *Proxy) clear() {
	p.do(func() { p.wire.Faults.Clear("") })
}

func create(t *testing.T, c csi.ControllerClient, name string, parameters map[string]string) (*csi.CreateVolumeResponse, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return c.CreateVolume(ctx, &csi.CreateVolumeRequest{Name: name, Parameters: parameters})
}

// Concurrent calls on one connection get their own answers while faults are injected and cleared,
// whether or not the wire handles the calls.
func TestConcurrentCallsGetTheirOwnAnswersWhileFaultsChange(t *testing.T) {
	client, p := before(t)
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			for n := range 25 {
				name := fmt.Sprintf("pvc-%d-%d", i, n)
				answer, err := create(t, client, name, nil)
				if assert.NoError(t, err) {
					assert.Equal(t, name, answer.GetVolume().GetVolumeId())
				}
				_, err = create(t, client, "bad-"+name, nil)
				assert.Equal(t, status.Error(codes.OutOfRange, "100 % of bad-"+name+" is too much – ü").Error(), err.Error())
			}
		})
	}
	done := make(chan struct{})
	go func() { callers.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			p.inject(fault.Fault{Name: "other", Call: "DeleteVolume", Effect: fault.Answer, Code: codes.Internal})
			time.Sleep(2 * time.Millisecond)
			p.clear()
			time.Sleep(2 * time.Millisecond)
		}
	}
	p.do(p.records.take)
	text := p.written(t)
	assert.Equal(t, 400, strings.Count(text, `"open":true`))
	assert.Equal(t, 800, strings.Count(text, `"k":"csi"`), "each has a beginning and an end")
}

// written returns the records in the files, which outlive the proxy.
func (p *Proxy) written(t *testing.T) string {
	var text bytes.Buffer
	require.NoError(t, p.records.follow(&text, func() {}, 0, nil))
	return text.String()
}

// created returns the requests to create a volume in the records.
func (p *Proxy) created(t *testing.T) (all []*csi.CreateVolumeRequest) {
	for line := range strings.Lines(p.written(t)) {
		var record Record
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		if record.M == "Controller/CreateVolume" && record.Request != nil {
			request := &csi.CreateVolumeRequest{}
			require.NoError(t, proto.Unmarshal(record.Request, request))
			all = append(all, request)
		}
	}
	return all
}

// For every caller, the start of a call is recorded before the driver receives the request, and its
// end before the caller receives the answer. Therefore a proxy that is killed at any moment loses
// neither record.
func TestACallIsRecordedBeforeItIsForwardedAndAnswered(t *testing.T) {
	var p *Proxy
	begun := 0
	client, p := beforeDriver(t, echo{asked: func(r *csi.CreateVolumeRequest) {
		if slices.ContainsFunc(p.created(t), func(recorded *csi.CreateVolumeRequest) bool { return recorded.GetName() == r.GetName() }) {
			begun++
		}
	}})
	for n := range 100 {
		if n == 50 {
			p.inject(fault.Fault{Name: "other", Call: "DeleteVolume", Effect: fault.Answer, Code: codes.Internal})
		}
		_, err := create(t, client, fmt.Sprintf("pvc-%d", n), nil)
		require.NoError(t, err)
		require.Equal(t, n+1, begun)
		require.Equal(t, 2*(n+1), strings.Count(p.written(t), `"k":"csi"`))
	}
}

// Faults apply to requests of any size, even if many concurrent requests exceed the flow-control
// window of their connection. The records contain them completely.
func TestFaultsApplyToLargeRequests(t *testing.T) {
	client, p := before(t)
	p.inject(fault.Fault{Name: "full", Call: "CreateVolume", Effect: fault.Answer, Code: codes.ResourceExhausted})
	var callers sync.WaitGroup
	for _, size := range []int{20_000, 25_000, 30_000, 33_000, 70_000, 300_000} {
		callers.Go(func() {
			_, err := create(t, client, "pvc", map[string]string{"a": strings.Repeat("x", size)})
			assert.Equal(t, codes.ResourceExhausted, status.Code(err), size)
		})
	}
	callers.Wait()
	p.clear()
	answer, err := create(t, client, "pvc-large", map[string]string{"a": strings.Repeat("x", 300_000)})
	require.NoError(t, err)
	assert.Equal(t, "pvc-large", answer.GetVolume().GetVolumeId())
	whole := 0
	for _, request := range p.created(t) {
		if request.GetParameters()["a"] == strings.Repeat("x", 300_000) {
			whole++
		}
	}
	assert.LessOrEqual(t, 2, whole, "of the request with the fault, and of the other")
}

// Requests and answers larger than the initial flow-control window pass through.
func TestLargeMessagesPassThrough(t *testing.T) {
	client, p := before(t)
	large := map[string]string{"a": strings.Repeat("x", 300_000)}
	for range 2 {
		answer, err := create(t, client, "pvc-1", large)
		require.NoError(t, err)
		assert.Equal(t, large, answer.GetVolume().GetVolumeContext())
		p.inject(fault.Fault{Name: "instead", Call: "CreateVolume", Times: 1, Effect: fault.Instead, Response: fmt.Appendf(nil, `{"volume": {"volume_id": "v", "volume_context": {"a": %q}}}`, large["a"])})
		answer, err = create(t, client, "pvc-2", nil)
		require.NoError(t, err)
		assert.Equal(t, large, answer.GetVolume().GetVolumeContext())
		p.clear()
	}
}

// parrot implements a method that the proxy does not know. It answers each message by sending the
// message twice.
func parrot(_ any, stream grpc.ServerStream) error {
	for {
		said := &wrapperspb.StringValue{}
		if err := stream.RecvMsg(said); errors.Is(err, io.EOF) {
			return status.Error(codes.DataLoss, "enough")
		} else if err != nil {
			return err
		}
		said.Value += said.Value
		if err := stream.SendMsg(said); err != nil {
			return err
		}
	}
}

// Methods that are unknown to the proxy, and streaming methods, reach the driver.
func TestUnknownMethodsAreForwarded(t *testing.T) {
	_, p := before(t)
	conn, err := connect(p.options.Listen["csi-provisioner"])
	require.NoError(t, err)
	defer conn.Close()
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/example.Parrot/Talk")
	require.NoError(t, err)
	said := &wrapperspb.StringValue{}
	for _, word := range []string{"a", "bc"} {
		require.NoError(t, stream.SendMsg(wrapperspb.String(word)))
		require.NoError(t, stream.RecvMsg(said))
		assert.Equal(t, word+word, said.GetValue())
	}
	require.NoError(t, stream.CloseSend())
	assert.Equal(t, status.Error(codes.DataLoss, "enough").Error(), stream.RecvMsg(said).Error())
}
