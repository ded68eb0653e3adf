package realcluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/cmd/internal/deploy"
	"github.com/csisim/csisim/cmd/internal/proxy"
	"github.com/csisim/csisim/internal/driver/contract"
	"github.com/csisim/csisim/internal/world/trace"
)

// callLog brings the records of the proxies into the trace.
type callLog struct {
	*Cluster
	open map[recordKey]*trace.Event
	seen map[recordKey]bool // records that are complete
	pods map[string]bool    // that are being read, by name

	mu   sync.Mutex
	read map[string]int // lines of each pod that have arrived
}

// recordKey distinguishes an event of all proxies.
type recordKey struct {
	start  int64
	seq    uint64
	driver string
	node   string
}

func newCallLog(c *Cluster) *callLog {
	return &callLog{Cluster: c, open: map[recordKey]*trace.Event{}, seen: map[recordKey]bool{}, pods: map[string]bool{}, read: map[string]int{}}
}

// proxyPath is the address of a proxy through the API server.
func proxyPath(pod, path string) string {
	return fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy%s", deploy.Namespace, pod, deploy.ProxyPort, path)
}

// ask asks the proxy in a pod.
func (c *Cluster) ask(ctx context.Context, pod, verb, path string, params map[string]string, body any) ([]byte, error) {
	request := c.request(pod, verb, path, params)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		request = request.Body(bytes.NewReader(text))
	}
	text, err := request.DoRaw(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(text)))
	}
	return text, err
}

func (c *Cluster) request(pod, verb, path string, params map[string]string) *rest.Request {
	request := c.clients.CoreV1().RESTClient().Verb(verb).AbsPath(proxyPath(pod, path)).SetHeader(proxy.TokenHeader, c.options.Deploy.Proxy)
	for name, value := range params {
		request = request.Param(name, value)
	}
	return request
}

// pods are the running pods of a driver: part is node or controller, empty for both; node narrows it down.
func (c *Cluster) pods(driver, part, node string) ([]corev1.Pod, error) {
	selector := deploy.RunLabel + "=" + c.options.Deploy.Run + "," + deploy.DriverLabel
	if driver != "" {
		selector += "=" + deploy.Slug(driver)
	}
	if part != "" {
		selector += "," + deploy.PartLabel + "=" + part
	}
	options := metav1.ListOptions{LabelSelector: selector}
	if node != "" {
		options.FieldSelector = "spec.nodeName=" + node
	}
	list, err := c.clients.CoreV1().Pods(deploy.Namespace).List(c.ctx, options)
	if err != nil {
		return nil, err
	}
	var running []corev1.Pod
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil && p.Status.PodIP != "" && c.isRunning(p) {
			running = append(running, p)
		}
	}
	return running, nil
}

func (c *Cluster) isRunning(p corev1.Pod) bool {
	for _, s := range p.Status.ContainerStatuses {
		if s.Name == deploy.PluginContainer {
			return s.State.Running != nil
		}
	}
	return false
}

// readNew begins to read the records of pods that are new.
func (l *callLog) readNew() error {
	pods, err := l.Cluster.pods("", "", "")
	if err != nil {
		return err
	}
	for _, p := range pods {
		if !l.pods[p.Name] {
			l.pods[p.Name] = true
			go l.follow(p.Name)
		}
	}
	return nil
}

// follow reads the records of a pod's proxy as they come. It begins anew when the stream ends: records that are known are dropped.
func (l *callLog) follow(pod string) {
	const pause = 100 * time.Millisecond
	skip := 0
	for l.ctx.Err() == nil {
		stream, err := l.request(pod, "GET", "/records", map[string]string{"follow": "true", "skip": strconv.Itoa(skip)}).Stream(l.ctx)
		if err == nil {
			in := bufio.NewReaderSize(stream, 1<<16)
			for {
				line, err := in.ReadBytes('\n')
				if err != nil {
					break
				}
				skip++
				l.arrived(line)
				l.count(pod, skip)
			}
			_ = stream.Close()
		}
		select {
		case <-l.ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (l *callLog) count(pod string, lines int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read[pod] = lines
}

func (l *callLog) counted(pod string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read[pod]
}

// catchUp waits until all that the proxies have recorded so far is in the trace.
func (l *callLog) catchUp() error {
	for _, pod := range slices.Sorted(maps.Keys(l.pods)) {
		text, err := l.ask(l.ctx, pod, "GET", "/records", nil, nil)
		if err != nil {
			return environment(err, "read the records of pod %s", pod)
		}
		there := bytes.Count(text, []byte("\n"))
		if err := l.WaitFor("the records of pod "+pod, catchUpTime, func() bool { return l.counted(pod) >= there }); err != nil {
			return err
		}
	}
	return l.Advance(2 * late)
}

// catchUpTime is how long records may be on their way.
const catchUpTime = 10 * time.Second

func (l *callLog) arrived(line []byte) {
	var r proxy.Record
	if json.Unmarshal(line, &r) != nil {
		return
	}
	at := time.Unix(0, r.At)
	if !r.Open {
		at = at.Add(time.Duration(r.Took))
	}
	if at.Before(l.clock.began) {
		return // of an earlier run: the directory outlives them
	}
	l.queue.put(at, func() { l.take(r) })
}

// take records a call that begins or ends, or what a proxy has found.
func (l *callLog) take(r proxy.Record) {
	key := recordKey{r.Start, r.Seq, r.Driver, r.Node}
	if l.seen[key] {
		return
	}
	l.seen[key] = !r.Open
	if r.K != trace.Call {
		l.found(r)
		return
	}
	event := l.open[key]
	if event == nil {
		l.clock.at(time.Unix(0, r.At), func() {
			event = l.world.Trace.Begin(trace.Entry{
				Kind: trace.Call, Actor: r.From, Node: r.Node, Driver: r.Driver, Method: r.M, Request: message(r.M, r.Req, false), Injected: r.Inj,
			})
		})
		l.open[key] = event
	}
	if r.Open {
		return
	}
	delete(l.open, key)
	event.Code, event.Message, event.Injected = r.Code, r.Msg, r.Inj
	if r.Code == "" {
		event.Response = message(r.M, r.Resp, true)
	}
	l.clock.at(time.Unix(0, r.At+r.Took), func() { l.world.Trace.End(event) })
}

// found records what is no call.
func (l *callLog) found(r proxy.Record) {
	if r.K == trace.Violation {
		l.violate = append(l.violate, contract.Parse(r.M, r.Msg))
	}
	l.world.Trace.Add(trace.Entry{
		Kind: r.K, Actor: r.From, Node: r.Node, Driver: r.Driver, Method: r.M, Message: r.Msg,
		Request: message(r.M, r.Req, false), Response: message(r.M, r.Resp, true),
	})
}

// message is a request or an answer as it was recorded; nil if there is none.
func message(method string, fields map[string]any, answer bool) proto.Message {
	if fields == nil {
		return nil
	}
	full := "/csi.v1." + method
	request, response, err := proxy.Messages(full)
	if err != nil {
		return nil
	}
	m := request
	if answer {
		m = response
	}
	text, err := json.Marshal(fields)
	if err == nil {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, m)
	}
	if err != nil {
		return nil
	}
	return m
}
