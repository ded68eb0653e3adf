package nfs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/standin/nfs"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
)

func TestMain(m *testing.M) {
	namespaces.Enter()
	os.Exit(m.Run())
}

// place is a server and a node that mounts from it.
type place struct {
	server *nfs.Server
	dir    string // of the server
	node   machine.Machine
	point  string // a directory of the node to mount on
}

func start(t *testing.T) *place {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	p := &place{
		server: nfs.New(nfs.Options{Server: "nfs.example.com", Exports: []string{"/export", "/srv/more"}}),
		dir:    filepath.Join(t.TempDir(), "server"), point: machine.KubeletDir + "/point",
	}
	require.NoError(t, p.server.Start(p.dir))
	node, err := machine.NewNamespace("node-a", filepath.Join(t.TempDir(), "node-a"), false)
	require.NoError(t, err)
	p.node = node
	t.Cleanup(func() {
		require.NoError(t, node.Close())
		require.NoError(t, p.server.Stop())
	})
	require.NoError(t, p.server.Furnish(standin.Node{Name: "node-a", Machine: node}))
	require.NoError(t, node.MkdirAll(p.point, 0o755))
	return p
}

// run runs a program on the node.
func (p *place) run(t *testing.T, name string, args ...string) (exit, output string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	process, err := p.node.Start(machine.Command{Path: name, Args: args, Stdout: log, Stderr: log})
	require.NoError(t, err)
	<-process.Done()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	return process.Exit(), strings.TrimSpace(string(text))
}

func TestMountShowsAnExportOnTheNode(t *testing.T) {
	p := start(t)
	before, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p.dir+"/exports/export/hello", []byte("world"), 0o600))

	exit, output := p.run(t, "mount", "-t", "nfs", "-o", "nfsvers=4.1,hard", "nfs.example.com:/export", p.point)
	require.Equal(t, "exit status 0", exit, output)
	text, err := p.node.ReadFile(p.point + "/hello")
	require.NoError(t, err)
	assert.Equal(t, "world", string(text))
	after, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "the host sees nothing of it")

	exit, output = p.run(t, "umount", p.point)
	assert.Equal(t, "exit status 0", exit, output)
	mounted, err := p.node.IsMountPoint(p.point)
	require.NoError(t, err)
	assert.False(t, mounted)
}

func TestAReadOnlyMountIsReadOnly(t *testing.T) {
	p := start(t)
	exit, output := p.run(t, "mount", "-t", "nfs4", "-o", "ro,noexec", "nfs.example.com:/srv/more", p.point)
	require.Equal(t, "exit status 0", exit, output)
	exit, output = p.run(t, "touch", p.point+"/file")
	assert.Equal(t, "exit status 1", exit)
	assert.Contains(t, output, "Read-only file system")
}

func TestInvalidRequestsAreRejected(t *testing.T) {
	p := start(t)
	require.NoError(t, os.WriteFile(p.dir+"/exports/export/file", nil, 0o600))
	require.NoError(t, p.node.WriteFile(machine.KubeletDir+"/afile", nil, 0o600))
	for _, c := range []struct{ what, source, point, options, want string }{
		{"an unknown server", "other.example.com:/export", p.point, "",
			"mount.nfs: Failed to resolve server other.example.com: Name or service not known"},
		{"an unknown export", "nfs.example.com:/import", p.point, "",
			"mount.nfs: mounting nfs.example.com:/import failed, reason given by server: No such file or directory"},
		{"a missing directory of an export", "nfs.example.com:/export/none", p.point, "",
			"mount.nfs: mounting nfs.example.com:/export/none failed, reason given by server: No such file or directory"},
		{"a file of an export", "nfs.example.com:/export/file", p.point, "",
			"mount.nfs: mounting nfs.example.com:/export/file failed, reason given by server: Not a directory"},
		{"a way out of an export", "nfs.example.com:/export/../..", p.point, "",
			"mount.nfs: mounting nfs.example.com:/export/../.. failed, reason given by server: No such file or directory"},
		{"no server", "/export", p.point, "",
			"mount.nfs: remote share not in 'host:dir' format"},
		{"an empty server", ":/export", p.point, "",
			"mount.nfs: no device name was provided"},
		{"an unknown option", "nfs.example.com:/export", p.point, "nfsver=4",
			"mount.nfs: an incorrect mount option was specified for " + p.point},
		{"a number that is none", "nfs.example.com:/export", p.point, "timeo=long",
			"mount.nfs: an incorrect mount option was specified for " + p.point},
		{"a version that there is not", "nfs.example.com:/export", p.point, "vers=5",
			"mount.nfs: parsing error on 'vers=' option"},
		{"Kerberos, which the server has not", "nfs.example.com:/export", p.point, "sec=krb5",
			"mount.nfs: access denied by server while mounting nfs.example.com:/export"},
		{"a file to mount on", "nfs.example.com:/export", machine.KubeletDir + "/afile", "",
			"mount.nfs: mount point " + machine.KubeletDir + "/afile is not a directory"},
	} {
		args := []string{"-t", "nfs"}
		if c.options != "" {
			args = append(args, "-o", c.options)
		}
		exit, output := p.run(t, "mount", append(args, c.source, c.point)...)
		assert.Equal(t, "exit status 32", exit, c.what)
		assert.Equal(t, c.want, output, c.what)
	}
	exit, output := p.run(t, "mount", "-t", "nfs", "nfs.example.com:/export", p.point+"/missing")
	assert.Equal(t, "exit status 32", exit)
	assert.Contains(t, output, p.point+"/missing does not exist")
	mounted, err := p.node.IsMountPoint(p.point)
	require.NoError(t, err)
	assert.False(t, mounted, "nothing of that is mounted")
}

func TestMountsFailOnRequest(t *testing.T) {
	p := start(t)
	mount := func() (string, string) {
		return p.run(t, "mount", "-t", "nfs", "nfs.example.com:/export", p.point)
	}
	require.NoError(t, p.server.Fail(standin.Failure{Operation: "mount", Times: 1}))
	require.NoError(t, p.server.Fail(standin.Failure{Operation: "mount", Times: 1, Code: 1, Message: "Stale file handle of %s"}))
	exit, output := mount()
	assert.Equal(t, "exit status 32: mount.nfs: Connection timed out for nfs.example.com:/export", exit+": "+output)
	exit, output = mount()
	assert.Equal(t, "exit status 1: mount.nfs: Stale file handle of nfs.example.com:/export", exit+": "+output)
	exit, output = mount()
	assert.Equal(t, "exit status 0", exit, output)

	require.NoError(t, p.server.Fail(standin.Failure{Operation: "mount"}))
	for range 3 {
		exit, _ = mount()
		assert.Equal(t, "exit status 32", exit)
	}
	require.NoError(t, p.server.Recover())
	exit, output = mount()
	assert.Equal(t, "exit status 0", exit, output)
}

func TestANodeMountsAgainAfterALossOfPower(t *testing.T) {
	p := start(t)
	mounts, err := p.node.Mounts()
	require.NoError(t, err)
	assert.Empty(t, mounts, "the helper is part of the machine")
	exit, output := p.run(t, "mount", "-t", "nfs", "nfs.example.com:/export", p.point)
	require.Equal(t, "exit status 0", exit, output)
	require.NoError(t, p.node.PowerOff())
	mounted, err := p.node.IsMountPoint(p.point)
	require.NoError(t, err)
	require.False(t, mounted)
	exit, output = p.run(t, "mount", "-t", "nfs", "nfs.example.com:/export", p.point)
	assert.Equal(t, "exit status 0", exit, output)
}

func TestAMachineWithoutSeparateMountsIsRefused(t *testing.T) {
	server := nfs.New(nfs.Options{Server: "nfs.example.com", Exports: []string{"/export"}})
	require.NoError(t, server.Start(t.TempDir()))
	disk, err := machine.NewDisk("node-a", t.TempDir())
	require.NoError(t, err)
	defer disk.Close()
	for _, m := range []machine.Machine{disk, machine.NewMemory("node-a")} {
		assert.ErrorIs(t, server.Furnish(standin.Node{Name: "node-a", Machine: m}), machine.ErrNotIsolated)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		options nfs.Options
		want    string
	}{
		{nfs.Options{Server: "a", Exports: []string{"/x"}}, ""},
		{nfs.Options{Exports: []string{"/x"}}, `server "" is not a host's name`},
		{nfs.Options{Server: "a'b", Exports: []string{"/x"}}, `server "a'b" is not a host's name`},
		{nfs.Options{Server: "a"}, "no exports"},
		{nfs.Options{Server: "a", Exports: []string{"x"}}, `export "x" is not a clean absolute path`},
		{nfs.Options{Server: "a", Exports: []string{"/x/../.."}}, `export "/x/../.." is not a clean absolute path`},
	} {
		assert.Equal(t, c.want, strings.TrimPrefix(fmt.Sprint(c.options.Check()), "<nil>"))
	}
}
