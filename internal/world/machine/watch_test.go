package machine_test

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

const registry = "/var/lib/kubelet/plugins_registry"

// record collects the events of a watch, which may arrive on another goroutine.
type record struct {
	mu     sync.Mutex
	events []string
	news   chan struct{}
}

func watch(t *testing.T, m machine.Machine) (*record, func()) {
	r := &record{news: make(chan struct{}, 100)}
	stop, err := m.Watch(registry, r.add)
	require.NoError(t, err)
	t.Cleanup(stop)
	return r, stop
}

func (r *record) add(e machine.Event) {
	line := e.Op.String() + " " + e.Path
	if e.IsSocket {
		line += " socket"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, line)
	r.news <- struct{}{}
}

func (r *record) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// await receives events until there are n of them.
func (r *record) await(t *testing.T, n int) []string {
	var events []string
	for {
		if events = append(events, r.take()...); len(events) >= n {
			return events
		}
		select {
		case <-r.news:
		case <-time.After(time.Minute):
			require.FailNow(t, "events are missing", "got %v, want %d", events, n)
		}
	}
}

// K-REG-2: a file that exists when the watch starts counts as created.
func TestWatchStartsWithTheExistingFiles(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, registry+"/sub")
		l, err := m.BindSocket(registry + "/sub/reg.sock")
		require.NoError(t, err)
		defer l.Close()
		r, _ := watch(t, m)
		want := []string{"created " + registry + "/sub", "created " + registry + "/sub/reg.sock socket"}
		assert.Empty(t, cmp.Diff(want, r.take()))
	})
}

// K-REG-3: creations and removals are seen, writes are not. K-PATH-11: at any depth.
func TestWatchSendsOwnChangesAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, registry, "/elsewhere")
		r, stop := watch(t, m)

		mkdirs(t, m, registry+"/a/b", "/elsewhere/c")
		assert.Equal(t, []string{"created " + registry + "/a", "created " + registry + "/a/b"}, r.take())
		require.NoError(t, m.WriteFile(registry+"/a/f", nil, 0o600))
		require.NoError(t, m.WriteFile(registry+"/a/f", []byte("x"), 0o600))
		assert.Equal(t, []string{"created " + registry + "/a/f"}, r.take())

		l, err := m.BindSocket(registry + "/d.sock")
		require.NoError(t, err)
		assert.Equal(t, []string{"created " + registry + "/d.sock socket"}, r.take())
		require.NoError(t, l.Close())
		assert.Equal(t, []string{"removed " + registry + "/d.sock socket"}, r.take())

		require.NoError(t, m.RemoveAll(registry+"/a"))
		assert.Equal(t, []string{
			"removed " + registry + "/a/b", "removed " + registry + "/a/f", "removed " + registry + "/a",
		}, r.take())

		stop()
		mkdirs(t, m, registry+"/late")
		assert.Empty(t, r.take())
	})
}

func TestWatchCallbackMayUseTheMachine(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, registry)
		var seen []string
		stop, err := m.Watch(registry, func(e machine.Event) {
			seen = append(seen, filepath.Base(e.Path))
			if len(seen) == 1 {
				assert.NoError(t, m.Mkdir(registry+"/second", 0o750))
			}
		})
		require.NoError(t, err)
		defer stop()
		require.NoError(t, m.Mkdir(registry+"/first", 0o750))
		assert.Equal(t, []string{"first", "second"}, seen)
	})
}

func TestWatchCallbackMayCallTheNewSocket(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, filepath.Dir(socket))
		var got error
		stop, err := m.Watch(filepath.Dir(socket), func(machine.Event) { got = getInfo(dial(t, m)) })
		require.NoError(t, err)
		defer stop()
		got = assert.AnError
		serve(t, m, &node{info: &csi.NodeGetInfoResponse{}})
		assert.NoError(t, got)
	})
}

func TestWatchSendsChangesOfOthersOnce(t *testing.T) {
	for _, kind := range kinds[1:] {
		t.Run(kind.name, func(t *testing.T) {
			m := kind.make(t)
			defer m.Close()
			mkdirs(t, m, registry)
			r, _ := watch(t, m)
			real := m.Path(registry)

			require.NoError(t, os.MkdirAll(real+"/a/b", 0o750))
			require.NoError(t, os.WriteFile(real+"/a/b/f", nil, 0o600))
			assert.Equal(t, []string{
				"created " + registry + "/a", "created " + registry + "/a/b", "created " + registry + "/a/b/f",
			}, r.await(t, 3))

			// A driver that restarts replaces its socket at the same path.
			for range 3 {
				replaceSocket(t, real+"/d.sock")
				assert.Equal(t, []string{"created " + registry + "/d.sock socket"}, r.await(t, 1))
				require.NoError(t, os.Remove(real+"/d.sock"))
				assert.Equal(t, []string{"removed " + registry + "/d.sock socket"}, r.await(t, 1))
			}
		})
	}
}

// K-REG-3: a socket that is renamed away stays, and a socket that is renamed into place is created.
func TestWatchIgnoresRenamesAway(t *testing.T) {
	m := newDisk(t)
	defer m.Close()
	mkdirs(t, m, registry)
	r, _ := watch(t, m)
	real := m.Path(registry)
	replaceSocket(t, real+"/old.sock")
	require.Equal(t, []string{"created " + registry + "/old.sock socket"}, r.await(t, 1))

	require.NoError(t, os.Rename(real+"/old.sock", real+"/new.sock"))
	assert.Equal(t, []string{"created " + registry + "/new.sock socket"}, r.await(t, 1))
}

// replaceSocket leaves a socket file behind, as a killed driver does.
func replaceSocket(t *testing.T, path string) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
}
