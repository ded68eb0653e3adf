package lines_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident/lines"
)

// kept keeps the records of a reading.
type kept struct {
	records []lines.Record
	objects []string
}

func (k *kept) Record(r *lines.Record) error {
	k.records = append(k.records, *r)
	return nil
}

func (k *kept) Objects(_ *lines.Source, _ lines.Form, number int, from io.Reader) (io.Reader, error) {
	text, err := io.ReadAll(from)
	k.objects = append(k.objects, fmt.Sprintf("%d: %s", number, text))
	return nil, err
}

// day is the end of the logs of these tests.
var day = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

func read(t *testing.T, text string, zone *time.Location) ([]lines.Record, *lines.Reading) {
	t.Helper()
	var to kept
	d := &lines.Reading{Clock: lines.Clock{Zone: zone, Until: day}, Stdin: strings.NewReader(text), To: &to}
	require.NoError(t, d.Paths([]string{"-"}))
	return to.records, d
}

// Given a line in one of the formats, then the content identifies its time, place and message.
func TestFormsAreFoundByContent(t *testing.T) {
	const klog = `I1128 12:47:26.123456    1234 reconciler.go:341] "It happened" pod="default/web" node="n1"`
	for _, c := range []struct{ name, line, want string }{
		{"klog", klog, `12:47:26.123 I reconciler.go:341 "It happened" pod=default/web`},
		{"klog, plain", `W1128 12:47:26.123456       1 a.go:1] volume "x" is lost`, `12:47:26.123 W a.go:1 "volume \"x\" is lost"`},
		{"klog, quoted quotes", `E1128 12:47:26.000001 1 a.go:1] "said \"no\"" err="rpc error: code = Internal desc = \"x\"" pod="a/b"`, `12:47:26.000 E a.go:1 "said \"no\"" pod=a/b`},
		{"journalctl", "Nov 28 12:47:26 node-a kubelet[1234]: " + klog, `12:47:26.123 I reconciler.go:341 "It happened" pod=default/web node-a kubelet`},
		{"journalctl, one digit", "Nov  8 12:47:26 node-a systemd[1]: Started.", `12:47:26.000  "Started." node-a systemd`},
		{"journalctl -o short-iso", "2026-11-28T12:47:26+0000 node-a kubelet[1234]: " + klog, `12:47:26.123 I reconciler.go:341 "It happened" pod=default/web node-a kubelet`},
		{"journalctl -o short-iso-precise", "2026-11-28T13:47:26.123456+01:00 node-a kubelet[1]: plain", `12:47:26.123  "plain" node-a kubelet`},
		{"journalctl -o json", `{"__REALTIME_TIMESTAMP":"1795870046123456","_HOSTNAME":"node-a","SYSLOG_IDENTIFIER":"kubelet","MESSAGE":"plain"}`, `12:47:26.123  "plain" node-a kubelet`},
		{"journalctl -o json, bytes", `{"__REALTIME_TIMESTAMP":"1795870046123456","_HOSTNAME":"node-a","SYSLOG_IDENTIFIER":"kubelet","MESSAGE":[104,105]}`, `12:47:26.123  "hi" node-a kubelet`},
		{"kubectl logs --timestamps", "2026-11-28T12:47:26.200000000Z " + klog, `12:47:26.123 I reconciler.go:341 "It happened" pod=default/web`},
		{"kubectl logs --prefix", "[pod/web-0/csi-attacher] " + klog, `12:47:26.123 I reconciler.go:341 "It happened" pod=default/web web-0 csi-attacher`},
		{"containerd", "2026-11-28T12:47:26.200000000Z stderr F " + klog, `12:47:26.123 I reconciler.go:341 "It happened" pod=default/web`},
		{"containerd, in another zone", "2026-11-28T14:47:26.200000000+02:00 stdout F " + klog, `12:47:26.123 I reconciler.go:341 "It happened" pod=default/web`},
		{"Docker", `{"log":"plain\n","stream":"stderr","time":"2026-11-28T12:47:26.123456789Z"}`, `12:47:26.123  "plain"`},
		{"klog JSON", `{"ts":1795870046123.456,"caller":"csi/a.go:12","msg":"It happened","v":4,"pod":"default/web"}`, `12:47:26.123  a.go:12 "It happened" pod=default/web`},
		{"zap JSON", `{"level":"info","time":"2026-11-28T12:47:26.123Z","caller":"service/node.go:57","msg":"It happened","pod":"x"}`, `12:47:26.123 I node.go:57 "It happened" pod=x`},
		{"zap console", "2026-11-28T12:47:26.123Z\tERROR\tservice/node.go:57\tIt happened\t{\"pod\":\"x\"}", `12:47:26.123 E node.go:57 "It happened" pod=x`},
		{"logrus", `time="2026-11-28T12:47:26Z" level=warning msg="It happened" pod=x`, `12:47:26.000 W "It happened" pod=x`},
		{"tracing", "2026-11-28T12:47:26.123456Z ERROR csi_node::node: It happened: no", `12:47:26.123 E csi_node::node "It happened: no"`},
		{"tracing, pretty and coloured", "  \x1b[2m2026-11-28T12:47:26.123456Z\x1b[0m \x1b[32m INFO\x1b[0m \x1b[1;32mcsi_node::node\x1b[0m\x1b[32m: \x1b[0mIt happened", `12:47:26.123 I csi_node::node "It happened"`},
		{"Go's log", `2026/11/28 12:47:26 It happened`, `12:47:26.000  "It happened"`},
		{"stern", "csi-0-x csi-resizer " + klog, `12:47:26.123 I reconciler.go:341 "It happened" pod=default/web csi-0-x csi-resizer`},
		{"numbered by a tool", "  |   | 2020-10-21 23:02:33 | " + klog, `12:47:26.123 I reconciler.go:341 "It happened" pod=default/web`},
		{"no form", `It happened`, `00:00:00.000  "It happened"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, _ := read(t, c.line+"\n", nil)
			require.Len(t, found, 1)
			assert.Equal(t, c.want, shown(&found[0]))
		})
	}
}

// shown prints a record.
func shown(r *lines.Record) string {
	level := ""
	if r.Level != 0 {
		level = string(r.Level)
	}
	parts := []string{r.At.Format("15:04:05.000"), level, strings.TrimSpace(r.Caller + fmt.Sprintf(" %q", r.Message))}
	for _, part := range []string{pairOf(r), r.Node, r.Pod, r.Container, r.Program} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

func pairOf(r *lines.Record) string {
	if pod := r.Values()["pod"]; pod != "" {
		return "pod=" + pod
	}
	return ""
}

// Given a line in pieces, as containerd writes long lines, then the pieces become one record.
func TestPiecesAreJoined(t *testing.T) {
	found, _ := read(t, "2026-11-28T12:47:26.2Z stdout P one \n2026-11-28T12:47:26.3Z stdout P two \n2026-11-28T12:47:26.4Z stdout F three\n", nil)
	require.Len(t, found, 1)
	assert.Equal(t, "one two three", found[0].Message)
}

// Given lines without a year across New Year, then each is in the last year before the end.
func TestYearlessLinesCrossNewYear(t *testing.T) {
	var to kept
	d := &lines.Reading{
		Clock: lines.Clock{Until: time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC)}, To: &to,
		Stdin: strings.NewReader("I1231 23:59:59.000000 1 a.go:1] old\nI0101 00:00:01.000000 1 a.go:1] new\n"),
	}
	require.NoError(t, d.Paths([]string{"-"}))
	require.Len(t, to.records, 2)
	assert.Equal(t, "2026-12-31T23:59:59Z", to.records[0].At.Format(time.RFC3339))
	assert.Equal(t, "2027-01-01T00:00:01Z", to.records[1].At.Format(time.RFC3339))
}

// Given a zone for times without a zone, then these times are converted, even across a change of
// daylight saving time.
func TestZoneOfTimesWithoutOne(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	found, d := read(t, "I1024 12:00:00.000000 1 a.go:1] summer\nI1128 12:00:00.000000 1 a.go:1] winter\n2026-11-28T12:00:00Z stdout F I1128 13:00:00.000000 1 a.go:1] known\n", berlin)
	var times []string
	for _, r := range found {
		times = append(times, r.At.Format("15:04"))
	}
	assert.Equal(t, []string{"10:00", "11:00", "12:00"}, times)
	assert.Equal(t, 2, d.Unzoned)
}

// Given a secret in a line, then the record does not contain it, and the rest of the line stays.
func TestSecretsAreRedacted(t *testing.T) {
	for line, want := range map[string]string{
		`login with password=hunter2abc ok`:                                             `login with password=***redacted*** ok`,
		`{"userKey":"AQD1x2y3z4","clusterID":"c1"}`:                                     `{"userKey":"***redacted***","clusterID":"c1"}`,
		`Authorization: Bearer abcdef0123456789`:                                        `Authorization: Bearer ***redacted***`,
		`token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJl end`:            `token ***redacted*** end`,
		`mount -o username=u,password=s3cretpw //server/share`:                          `mount -o username=u,password=***redacted*** //server/share`,
		`dial https://user:pa55word@host/path`:                                          `dial https://user:***redacted***@host/path`,
		`gRPCCall: {"Request":{"secrets":{"user":"u","pin":"1234"},"volume_id":"v"}}`:   `gRPCCall: {"Request":{"secrets":{***redacted***},"volume_id":"v"}}`,
		`references non-existent secret key: config.yaml`:                               `references non-existent secret key: config.yaml`,
		`secret="default/db" not found`:                                                 `secret="default/db" not found`,
		`GRPC request: {"secrets":"***stripped***","volume_id":"vol-1"}`:                `GRPC request: {"secrets":"***stripped***","volume_id":"vol-1"}`,
		`MountVolume.SetUp failed for volume "kube-api-access-x" : token review failed`: `MountVolume.SetUp failed for volume "kube-api-access-x" : token review failed`,
	} {
		found, _ := read(t, "I1128 12:00:00.000000 1 a.go:1] "+line+"\n", nil)
		require.Len(t, found, 1)
		assert.Equal(t, want, strings.TrimPrefix(found[0].Text, "I1128 12:00:00.000000 1 a.go:1] "))
	}
	found, _ := read(t, "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nMIIEdef\n-----END RSA PRIVATE KEY-----\nafter\n", nil)
	for _, r := range found {
		assert.NotContains(t, r.Text, "MII")
	}
	assert.Equal(t, "after", found[len(found)-1].Text)
}

// Given the path of a log in a known layout, then it names the place.
func TestPathsNameThePlace(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]lines.Place{
		"var/log/pods/kube-system_csi-0_12345678-1234-1234-1234-123456789012/csi-attacher/0.log": {Namespace: "kube-system", Pod: "csi-0", Container: "csi-attacher"},
		"must-gather/namespaces/csi/pods/csi-0/csi-attacher/csi-attacher/logs/current.log":       {Namespace: "csi", Pod: "csi-0", Container: "csi-attacher"},
		"dump/kube-system/csi-0/logs.txt":      {Namespace: "kube-system", Pod: "csi-0"},
		"must-gather/nodes/node-a/kubelet.log": {Node: "node-a"},
	} {
		file := filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte("I1128 12:00:00.000000 1 a.go:1] x\n"), 0o600))
		var to kept
		d := &lines.Reading{Clock: lines.Clock{Until: day}, To: &to}
		require.NoError(t, d.Paths([]string{file}))
		require.Len(t, to.records, 1, path)
		r := to.records[0]
		assert.Equal(t, want, lines.Place{Node: r.Node, Namespace: r.Namespace, Pod: r.Pod, Container: r.Container, Program: r.Program}, path)
	}
}
