package data

import (
	"io/fs"
	"syscall"

	"github.com/csisim/csisim/internal/judge/verdict"

	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// node is a machine with published volumes, and a check.
type node struct {
	*Check
	*machine.Memory
	t   *testing.T
	got []string
}

func newNode(t *testing.T) *node {
	n := &node{Check: New(), Memory: machine.NewMemory("node-a"), t: t}
	n.OnViolation = func(_ Use, v verdict.Verdict) { n.got = append(n.got, v.Found[0]) }
	return n
}

// publish shows the content of a volume to a pod.
func (n *node) publish(pod, content string, readOnly bool) {
	n.t.Helper()
	for _, dir := range []string{"/content/" + content, "/pods/" + pod} {
		require.NoError(n.t, n.MkdirAll(dir, 0o755))
	}
	require.NoError(n.t, n.BindMount("/content/"+content, "/pods/"+pod, readOnly))
}

func (n *node) unpublish(pod string) { require.NoError(n.t, n.Unmount("/pods/"+pod)) }

func (n *node) use(pod, volume string) Use {
	return Use{
		Pod: "default/" + pod, Volume: Volume{"d", volume}, Name: "pv-" + volume, Node: "node-a", Machine: n.Memory,
		Path: "/pods/" + pod, Writable: true,
	}
}

func TestWrittenDataIsReadAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*node)
		want string // the expected report; empty if there is none
	}{
		{"the same volume again", func(n *node) {
			n.unpublish("a")
			n.publish("b", "v", false)
			n.Check.Start(n.use("b", "v"))
			n.Read(n.use("b", "v"))
			n.publish("a", "v", false)
		}, ""},
		{"the same volume, to be read only", func(n *node) {
			n.publish("b", "v", true)
			n.Check.Start(n.use("b", "v"))
			n.Read(n.use("a", "v"))
		}, ""},
		{"nothing is mounted", func(n *node) {
			n.unpublish("a")
			n.Read(n.use("a", "v"))
		}, "pod default/a does not find its data: volume pv-v at /pods/a on node-a: expected generation 1, which pod default/a wrote on node-a, found a directory on which nothing is mounted"},
		{"an empty directory", func(n *node) {
			n.publish("b", "empty", false)
			n.Check.Start(n.use("b", "v"))
		}, "pod default/b does not find its data: volume pv-v at /pods/b on node-a: expected generation 1, which pod default/a wrote on node-a, found an empty directory"},
		{"another volume with content", func(n *node) {
			n.publish("o", "other", false)
			n.Check.Start(n.use("o", "other"))
			n.publish("b", "other", false)
			n.Check.Start(n.use("b", "v"))
		}, "pod default/b does not find its data: volume pv-v at /pods/b on node-a: expected generation 1, which pod default/a wrote on node-a, found generation 1 of volume d^other"},
		{"a new volume shows the content of another", func(n *node) {
			n.created(Volume{"d", "new"}, true)
			n.publish("b", "v", false)
			n.Check.Start(n.use("b", "new"))
		}, "pod default/b does not find its data: volume pv-new at /pods/b on node-a: expected a new volume without content, found generation 1 of volume d^v"},
		{"a copy shows the content of its source", func(n *node) {
			n.created(Volume{"d", "new"}, false)
			n.publish("b", "v", false)
			n.Check.Start(n.use("b", "new"))
			n.Read(n.use("a", "v"))
		}, ""},
		{"an older generation", func(n *node) {
			old, err := n.ReadFile("/content/v/" + FileName)
			require.NoError(n.t, err)
			n.Check.Start(n.use("a", "v"))
			require.NoError(n.t, n.WriteFile("/content/v/"+FileName, old, 0o644))
			n.Read(n.use("a", "v"))
		}, "pod default/a does not find its data: volume pv-v at /pods/a on node-a: expected generation 2, which pod default/a wrote on node-a, found generation 1 of volume d^v"},
		{"damaged bytes", func(n *node) {
			require.NoError(n.t, n.WriteFile("/content/v/"+FileName, []byte("csisim 1 d^v\n0000"), 0o644))
			n.Read(n.use("a", "v"))
		}, "pod default/a does not find its data: volume pv-v at /pods/a on node-a: expected generation 1, which pod default/a wrote on node-a, found bytes that are not its own or are damaged"},
		{"the volume was deleted and its id is used anew", func(n *node) {
			n.deleted(Volume{"d", "v"})
			n.publish("b", "empty", false)
			n.Check.Start(n.use("b", "v"))
		}, ""},
		{"the driver does not run", func(n *node) {
			n.unpublish("a")
			n.Serves = func(string, string) bool { return false }
			n.Read(n.use("a", "v"))
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t)
			n.publish("a", "v", false)
			n.Check.Start(n.use("a", "v"))
			require.Empty(t, n.got)
			c.do(n)
			n.Read(n.use("a", "v"))
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			assert.Equal(t, want, n.got, "told once, however often it is looked at")
		})
	}
}

// A read-only publication of a volume affects only the pod that has requested it.
func TestAVolumeRequestedForWritingStaysWritable(t *testing.T) {
	wrote := func(n *node) {
		n.publish("a", "v", false)
		n.Check.Start(n.use("a", "v"))
	}
	for _, c := range []struct {
		name       string
		before     func(*node)
		forWriting bool
		want       []string
	}{
		{"a pod wrote to it before", wrote, true, []string{"pod default/b cannot write its data: volume pv-v at /pods/b on node-a is read-only, which nobody has asked for: it has generation 1, which pod default/a wrote on node-a"}},
		{"it is requested read-only elsewhere", wrote, false, nil},
		{"no pod wrote to it before", func(*node) {}, true, nil},
		{"something in the run may have made it read-only", func(n *node) {
			wrote(n)
			n.MayBeReadOnly = func(Use) bool { return true }
		}, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t)
			c.before(n)
			n.publish("b", "v", true)
			use := n.use("b", "v")
			use.ForWriting = c.forWriting
			n.Check.Start(use)
			n.Check.Start(use)
			assert.Equal(t, c.want, n.got)
		})
	}
}

func TestADriverThatMountsNothingIsNotWrittenTo(t *testing.T) {
	n := newNode(t)
	require.NoError(t, n.MkdirAll("/pods/a", 0o755))
	n.Check.Start(n.use("a", "v"))
	entries, err := n.ReadDir("/pods/a")
	require.NoError(t, err)
	assert.Empty(t, entries)
	assert.Empty(t, n.got)
}

func TestAVolumeWithForeignContentIsLeftAlone(t *testing.T) {
	n := newNode(t)
	n.publish("a", "v", false)
	require.NoError(t, n.WriteFile("/content/v/"+FileName, []byte("somebody else's"), 0o644))
	require.NoError(t, n.WriteFile("/dev-v", []byte("a database"), 0o644))
	device := n.use("b", "raw")
	device.Block, device.Path = true, "/dev-v"
	n.Check.Start(n.use("a", "v"))
	n.Check.Start(device)
	for file, want := range map[string]string{"/content/v/" + FileName: "somebody else's", "/dev-v": "a database"} {
		data, err := n.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
	assert.Empty(t, n.got)
}

// A volume may contain anything; a link that leads out of the volume is not followed.
func TestALinkInTheVolumeIsNotFollowed(t *testing.T) {
	n := newNode(t)
	n.publish("a", "v", false)
	require.NoError(t, n.WriteFile("/secret", []byte("of the node"), 0o644))
	require.NoError(t, n.Symlink("/secret", "/content/v/"+FileName))
	n.Check.Start(n.use("a", "v"))
	data, err := n.ReadFile("/secret")
	require.NoError(t, err)
	assert.Equal(t, "of the node", string(data))
	assert.Equal(t, "a symbolic link in the place of "+FileName, look(n.use("a", "v")).problem)
}

func TestADeviceIsWrittenAtItsStart(t *testing.T) {
	n := newNode(t)
	require.NoError(t, n.WriteFile("/dev-v", make([]byte, 3*BlockBytes), 0o644))
	device := n.use("a", "raw")
	device.Block, device.Path = true, "/dev-v"
	n.Check.Start(device)
	n.Check.Start(device)
	assert.Empty(t, n.got)
	data, err := n.ReadFile("/dev-v")
	require.NoError(t, err)
	assert.Len(t, data, 3*BlockBytes)
	assert.Equal(t, 2, parse(data).generation)
	require.NoError(t, n.WriteFile("/dev-v", make([]byte, 3*BlockBytes), 0o644))
	n.Read(device)
	require.Len(t, n.got, 1)
	assert.Contains(t, n.got[0], "expected generation 2, which pod default/a wrote on node-a, found an empty device")
}

func TestContentOfAnEarlierRunIsRecognized(t *testing.T) {
	n := newNode(t)
	n.publish("a", "v", false)
	n.Check.Start(n.use("a", "v"))
	n.Check = New()
	n.OnViolation = func(_ Use, v verdict.Verdict) { n.got = append(n.got, v.Found[0]) }
	n.Check.Start(n.use("a", "v"))
	assert.Empty(t, n.got)
	assert.Equal(t, 2, n.written[Volume{"d", "v"}].Get("node-a").generation)
}

// Given a volume with a FUSE daemon that has exited, when a pod reads it, then the verdict names
// the daemon and has advice about it.
func TestAnExitedDaemonIsNamed(t *testing.T) {
	found := unreadable(&fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOTCONN})
	assert.True(t, found.daemonDied)
	var got verdict.Verdict
	c := New()
	c.OnViolation = func(_ Use, v verdict.Verdict) { got = v }
	c.violation(Use{Pod: "default/web", Name: "data", Path: "/p", Node: "node-a"}, "generation 1", found)
	assert.Contains(t, got.Text, "as the FUSE daemon of the volume has exited: pod default/web does not find its data")
	assert.Contains(t, got.Text, "transport endpoint is not connected")
	assert.Contains(t, Advice(got), "requiresRepublish")

	c.violation(Use{Pod: "default/other", Name: "data", Path: "/p", Node: "node-a"}, "generation 1", content{problem: "an empty directory"})
	assert.Empty(t, Advice(got))
}
