package machine_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// listing returns the entries of a host directory, or "missing".
func listing(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "missing"
	}
	return fmt.Sprint(entries)
}

func TestProgramsThatHardCodePathsDoNotReachTheHost(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	for _, file := range []string{
		"/var/lib/kubelet/x", "/csi/x", "/csi-data-dir/x", "/var/lib/csi-test/x", "/run/csi/x", "/var/run/csi/y",
		"/run/csisim-test/x", "/var/lib/csisim-test/x", "/csisim-test/x",
	} {
		t.Run(file, func(t *testing.T) {
			dir := filepath.Dir(file)
			above, before := listing(filepath.Dir(dir)), listing(dir)
			run(t, m, shell("mkdir -p "+dir+" && echo "+file+" >"+file))

			data, err := m.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, file+"\n", string(data), "the node's files are those of its programs")
			data, err = os.ReadFile(m.Path(strings.Replace(file, "/var/run", "/run", 1)))
			require.NoError(t, err)
			assert.Equal(t, file+"\n", string(data), "csisim finds them in the run's directory")
			assert.Equal(t, before, listing(dir), "the host's directory is as before")
			assert.Equal(t, above, listing(filepath.Dir(dir)))
		})
	}
}

func TestEachNodeHasItsOwnKubeletDirectory(t *testing.T) {
	first, second := newNamespace(t), newNamespace(t)
	defer first.Close()
	defer second.Close()
	run(t, first, shell("echo first >/var/lib/kubelet/x"))
	assert.Equal(t, "\n", run(t, second, shell("cat /var/lib/kubelet/x 2>/dev/null; echo")))
	require.NoError(t, second.WriteFile("/var/lib/kubelet/x", []byte("second\n"), 0o600))
	assert.Equal(t, "first\n", run(t, first, shell("cat /var/lib/kubelet/x")))
	assert.Equal(t, "second\n", run(t, second, shell("cat /var/lib/kubelet/x")))
}

func TestTheHostsContentStaysVisible(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	outside := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(outside, []byte("of the host"), 0o600))
	assert.Equal(t, "of the host", run(t, m, shell("cat "+outside)))
	for _, dir := range []string{"/usr/bin", "/etc", "/var/cache", "/dev"} {
		want, err := os.ReadDir(dir)
		require.NoError(t, err)
		got, err := m.ReadDir(dir)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(want), fmt.Sprint(got), dir)
	}
}

// A program's write to a host directory stays in the machine. The machine's other programs see it,
// and Written lists it. Directories in through are the host's own.
func TestProgramsDoNotWriteTheHostsDirectories(t *testing.T) {
	needRoot(t)
	dir, through := shortDir(t), shortDir(t)
	for _, name := range []string{dir + "/changed", dir + "/removed", dir + "/same"} {
		require.NoError(t, os.WriteFile(name, []byte("of the host"), 0o666))
	}
	m, err := machine.NewNamespace("node-1", filepath.Join(shortDir(t), "n1"), false, through)
	require.NoError(t, err)
	defer m.Close()
	run(t, m, shell("cd "+dir+" && echo x >changed && rm removed && mkdir -p made/deep && echo y >made/deep/file && cat same >/dev/null && echo z >"+through+"/let"))
	assert.Equal(t, "x\ny\n", run(t, m, shell("cd "+dir+" && cat changed made/deep/file && ! test -e removed")))

	assert.Equal(t, "[- changed - removed - same]", listing(dir))
	for _, name := range []string{"changed", "removed", "same"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, "of the host", string(text), name)
	}
	assert.FileExists(t, through+"/let")
	written, err := m.Written()
	require.NoError(t, err)
	assert.Equal(t, []string{"changed " + dir + "/changed", "made " + dir + "/made/", "removed " + dir + "/removed"}, written)
}

// Given a directory that was made before the programs, when the host gets the same directory, then
// Written lists no content of it from before the programs.
func TestPreparedFilesAreNotWrittenByPrograms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "prepared")
	m := newNamespace(t)
	defer m.Close()
	require.NoError(t, m.Furnish(func() error { return os.MkdirAll(dir+"/dev", 0o755) }))
	require.NoError(t, os.Mkdir(dir, 0o755))
	run(t, m, shell("touch "+filepath.Dir(dir)+"/written"))
	written, err := m.Written()
	require.NoError(t, err)
	assert.Equal(t, []string{"made " + filepath.Dir(dir) + "/written"}, written)
}

// Given the directories of two runs in memory, when a node of one run is created, then its programs
// write to that run's directories and do not see those of the other run. Written does not list the
// directories above them.
func TestANodeSeesOnlyItsOwnRunInMemory(t *testing.T) {
	needRoot(t)
	runs := shortDir(t) + "/runs"
	require.NoError(t, os.Mkdir(runs, 0o700))
	require.NoError(t, unix.Mount("csisim", runs, "tmpfs", 0, "size=4m"))
	defer func() { require.NoError(t, unix.Unmount(runs, 0)) }()
	for _, dir := range []string{"/mine", "/others"} {
		require.NoError(t, os.Mkdir(runs+dir, 0o700))
	}
	m, err := machine.NewNamespace("node-1", runs+"/mine/n1", false, runs+"/mine")
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	assert.Equal(t, "mine\n", run(t, m, shell("echo x >"+runs+"/mine/file && ls "+runs)))
	assert.FileExists(t, runs+"/mine/file")
	written, err := m.Written()
	require.NoError(t, err)
	assert.Empty(t, written)
}

func TestFileSystemsThatShowTheKernelAreReadOnly(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	for _, file := range []string{"/dev/csisim-test", "/sys/csisim-test", "/proc/sys/vm/swappiness"} {
		assert.Equal(t, "refused\n", run(t, m, shell("{ echo 60 >"+file+"; } 2>/dev/null || echo refused")), file)
	}
	assert.Equal(t, "ok\n", run(t, m, shell("echo x >/dev/null && echo ok")))
}

// Without overlayfs the host's directories are read-only. Drivers can add entries to some of them.
func TestWithoutLayersTheHostIsReadOnly(t *testing.T) {
	needRoot(t)
	defer machine.WithoutLayers()()
	dir := shortDir(t)
	require.NoError(t, os.WriteFile(dir+"/file", []byte("of the host"), 0o666))
	vanishing, err := os.MkdirTemp("/run", "vanishing")
	require.NoError(t, err)
	m := newNamespace(t)
	defer m.Close()
	require.NoError(t, os.Remove(vanishing))
	assert.Equal(t, "refused\n", run(t, m, shell("{ echo x >"+dir+"/file; } 2>/dev/null || echo refused")))
	assert.Equal(t, "refused\n", run(t, m, shell("touch /etc/csisim-test 2>/dev/null || echo refused")))
	run(t, m, shell("mkdir -p /csisim-test /var/lib/csisim-test /run/csisim-test && touch /csisim-test/file"))
	assert.NoDirExists(t, "/var/lib/csisim-test")
	written, err := m.Written()
	require.NoError(t, err)
	assert.Equal(t, []string{"made /csisim-test/", "made /run/csisim-test/", "made /var/lib/csisim-test/"}, written)
}

// A deployment mounts the kubelet's plugins_registry at /registration.
func TestRegistrationIsTheKubeletsRegistry(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	mkdirs(t, m, registry)
	r, _ := watch(t, m)
	run(t, m, shell("touch /registration/d-reg.sock"))
	assert.Equal(t, []string{"created " + registry + "/d-reg.sock"}, r.await(t, 1))
}

func TestProgramPathIsTheNodesOwnInANamespaceOnly(t *testing.T) {
	const path = machine.KubeletDir + "/plugins"
	assert.Equal(t, path, machine.NewMemory("node-1").ProgramPath(path))
	d := newDisk(t)
	defer d.Close()
	assert.Equal(t, d.Path(path), d.ProgramPath(path))
	n := newNamespace(t)
	defer n.Close()
	assert.Equal(t, path, n.ProgramPath(path))
}

func TestLongWorkDirectoriesLeaveRoomForSocketsInANamespace(t *testing.T) {
	needRoot(t)
	m, err := machine.NewNamespace("node-1", filepath.Join(shortDir(t), strings.Repeat("x", 90)), false)
	require.NoError(t, err)
	defer m.Close()
	serve(t, m, &node{info: &csi.NodeGetInfoResponse{}})
	require.NoError(t, getInfo(dial(t, m)))
}

func TestTheHostsMountTableIsUnchanged(t *testing.T) {
	before := mountTable(t)
	m := newNamespace(t)
	staged(t, m)
	run(t, m, shell("mkdir /mnt-of-driver && mount -t tmpfs mine /mnt-of-driver"))
	mounts, err := m.Mounts()
	require.NoError(t, err)
	require.Len(t, mounts, 1)
	assert.Equal(t, staging, mounts[0].Target)
	assert.Equal(t, before, mountTable(t))

	require.NoError(t, m.PowerOff())
	mounts, err = m.Mounts()
	require.NoError(t, err)
	assert.Empty(t, mounts)
	_, err = m.ReadFile(volume + "/data")
	require.NoError(t, err, "files survive")
	require.NoError(t, m.Close())
	assert.Equal(t, before, mountTable(t))
}

// The kernel gives a new file system the lowest free number. By this number, csisim recognizes a
// run's loop device with a file in a node's memory.
func TestNoOtherFileSystemHasTheNumberOfAMachinesMemory(t *testing.T) {
	m := newNamespace(t)
	defer func() { require.NoError(t, m.Close()) }()
	require.NotEmpty(t, m.Memory())
	for range 30 {
		dir := t.TempDir()
		require.NoError(t, unix.Mount("others", dir, "tmpfs", 0, "size=4k"))
		defer func() { require.NoError(t, unix.Unmount(dir, 0)) }()
		var others unix.Stat_t
		require.NoError(t, unix.Stat(dir, &others))
		assert.NotContains(t, m.Memory(), others.Dev)
	}
}

func TestPowerOffKillsProgramsThatLeftTheirGroup(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		_, err := m.Start(shell("setsid sleep 1000.25 & sleep 1000"))
		require.NoError(t, err)
		pid := awaitProcess(t, "sleep 1000.25")
		require.NoError(t, m.PowerOff())
		awaitGone(t, pid)
	})
}

func TestAMountOutsideTheKubeletsDirectoryBelongsToTheProgram(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	run(t, m, shell("mkdir /mine && mount -t tmpfs mine /mine && echo x >/mine/file"))
	assert.Equal(t, "", run(t, m, shell("ls /mine")))
}

// Given a mount that an administrator makes anywhere on the node, when the administrator's shell
// ends, then the mount stays for the node and for later programs, until the power is off.
func TestAMountOfAnAdministratorStays(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	c := shell("mkdir /mine && mount -t tmpfs mine /mine && echo x >/mine/file; setsid sleep 1000.125 >/dev/null 2>&1 &")
	c.Administrator = true
	p, err := m.Start(c)
	require.NoError(t, err)
	pid := awaitProcess(t, "sleep 1000.125")
	<-p.Done()
	require.Equal(t, "exit status 0", p.Exit())
	assert.DirExists(t, fmt.Sprintf("/proc/%d", pid), "the shell leaves a process behind")
	assert.Equal(t, "x\n", run(t, m, shell("cat /mine/file")))
	mounts, err := m.Mounts()
	require.NoError(t, err)
	require.Len(t, mounts, 1)
	assert.Equal(t, "/mine", mounts[0].Target)

	require.NoError(t, m.PowerOff())
	awaitGone(t, pid)
	assert.Equal(t, "", run(t, m, shell("ls /mine")))
}

func TestAProgramUnmountsTheMachinesMountsForItselfOnly(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	require.NoError(t, m.WriteFile(machine.KubeletDir+"/x", []byte("x"), 0o600))
	run(t, m, shell("umount -l "+machine.KubeletDir+" /sys && ! ls /sys/block 2>/dev/null"))
	assert.Equal(t, "x", run(t, m, shell("ls /sys/block >/dev/null && cat "+machine.KubeletDir+"/x")))
	_, err := m.ReadFile(machine.KubeletDir + "/x")
	assert.NoError(t, err)
}

func TestAMountThatAProgramUnmountsForItselfIsMissing(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	mkdirs(t, m, staging)
	unmounting := shell("mount -t tmpfs mine " + staging + " && umount " + staging + " && umount -l /sys " + machine.KubeletDir + " && echo done && sleep 1000")
	unmounting.Stdout = filepath.Join(t.TempDir(), "out.log")
	p, err := m.Start(unmounting)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		out, err := os.ReadFile(p.Stdout)
		return err == nil && string(out) == "done\n"
	}, time.Minute, time.Millisecond)
	missing, err := m.Missing()
	require.NoError(t, err)
	assert.Equal(t, machine.Missing{PID: p.PID(), Target: machine.KubeletDir}, missing[0], "it comes first")
	assert.Contains(t, missing, machine.Missing{PID: p.PID(), Target: "/sys"})
	assert.NotContains(t, missing, machine.Missing{PID: p.PID(), Target: staging})
	require.NoError(t, p.Kill())
	missing, err = m.Missing()
	require.NoError(t, err)
	assert.Empty(t, missing, "the program's mount table ends with the program")
}

// Deployments mount the driver's own plugin directory at /csi.
func TestVolumesAreThoseOfOneProgram(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	for _, driver := range []string{"a", "b"} {
		own := machine.KubeletDir + "/plugins/" + driver
		mkdirs(t, m, own)
		c := shell("echo " + driver + " >/csi/name")
		c.Volumes = []machine.Volume{{Source: own, Path: "/csi"}}
		run(t, m, c)
		text, err := m.ReadFile(own + "/name")
		require.NoError(t, err)
		assert.Equal(t, driver+"\n", string(text))
	}
	assert.Equal(t, "", run(t, m, shell("ls /csi")))
	mounts, err := m.Mounts()
	require.NoError(t, err)
	assert.Empty(t, mounts)
}

// A container mounts all of the kubelet's directory, and the registry at /registration, which is a
// symlink into it. Neither mount is on the node.
func TestVolumesOfTheKubeletsDirectoryLeaveNoMountOnTheNode(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	mkdirs(t, m, registry)
	c := shell("touch /registration/d-reg.sock")
	c.OwnKubeletDir, c.Dir = true, "/"
	c.Volumes = []machine.Volume{{Source: registry, Path: "/registration", Private: true}, {Source: machine.KubeletDir, Path: machine.KubeletDir}}
	nodes := shell("cut -d' ' -f5 /proc/self/mountinfo")
	before := run(t, m, nodes)
	run(t, m, c)
	_, err := m.Lstat(registry + "/d-reg.sock")
	require.NoError(t, err)
	assert.Equal(t, before, run(t, m, nodes))
}

func TestAVolumeWithoutASourceIsAnError(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	c := shell("true")
	c.Volumes = []machine.Volume{{Source: "/nowhere", Path: "/csi"}}
	_, err := m.Start(c)
	assert.ErrorContains(t, err, "start sh on node node-1: mount /nowhere on /csi: no such file or directory")
}

// A program cannot leave its namespace by leaving its group and its environment.
func TestTheProcessesOfAProgramEndWithIt(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	begun := machine.KubeletDir + "/begun"
	require.NoError(t, syscall.Mkfifo(m.Path(begun), 0o600))
	p, err := m.Start(shell("env -i setsid sh -c 'sleep 1000.5 & sleep 1000.75' >/dev/null 2>&1 & read end <" + begun))
	require.NoError(t, err)
	awaitProcess(t, "sleep 1000.5")
	pid := awaitProcess(t, "sleep 1000.75")
	require.NoError(t, m.WriteFile(begun, []byte("\n"), 0o600))
	<-p.Done()
	assert.Subset(t, p.Left(), []string{"sleep 1000.5", "sleep 1000.75"})
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	assert.True(t, err != nil || strings.Contains(string(stat), ") Z "), "process %d is alive", pid)
}

// A killed program could not end its helpers.
func TestTheProcessesOfAKilledProgramAreNotLeft(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	p, err := m.Start(shell("sleep 1001.5 & sleep 1001.75"))
	require.NoError(t, err)
	awaitProcess(t, "sleep 1001.5")
	require.NoError(t, p.Kill())
	assert.Empty(t, p.Left())
}

func TestAWorkDirectoryThatNodesHideIsAnError(t *testing.T) {
	needRoot(t)
	if namespaces.Rootless() {
		t.Skip("only root makes directories there")
	}
	const parent = "/csi-data-dir"
	if _, err := os.Stat(parent); err == nil {
		t.Skip(parent + " exists on this host")
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(parent)) })
	_, err := machine.NewNamespace("node-1", parent+"/n1", false)
	assert.ErrorContains(t, err, "where the work directory is: choose another")
	assert.NoDirExists(t, parent+"/n1")
}

// Making a node takes at most 10 ms.
func BenchmarkNamespace(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("mount namespaces need root")
	}
	dir := b.TempDir()
	for b.Loop() {
		m, err := machine.NewNamespace("node-1", filepath.Join(dir, "n1"), false)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// Missing parent directories of a volume's path are created only for the program, even in
// directories of the host. No other program sees the program's mounts in a private volume.
func TestVolumesBelowTheHostsDirectories(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	const data = machine.KubeletDir + "/pods/p/volumes/data"
	require.NoError(t, m.MkdirAll(data, 0o755))
	require.NoError(t, m.WriteFile(data+"/file", []byte("content"), 0o644))
	c := shell("cat /etc/csisim-test/deep/file /etc/csisim-test/one; ls -d /etc/passwd; touch /etc/csisim-test/deep/x || echo read-only; mkdir -p /data/m && mount -t tmpfs none /data/m")
	c.Volumes = []machine.Volume{
		{Source: data, Path: "/etc/csisim-test/deep", ReadOnly: true, Private: true},
		{Source: data + "/file", Path: "/etc/csisim-test/one", Private: true},
		{Source: data, Path: "/data", Private: true},
	}
	assert.Equal(t, "contentcontent/etc/passwd\nread-only\n", run(t, m, c))
	assert.NoDirExists(t, "/etc/csisim-test")
	mounts, err := m.Mounts()
	require.NoError(t, err)
	assert.Empty(t, mounts)
}

// The mount point of a volume is created for one program, even in the root. It is not a directory
// of the machine, where another program may have a file.
func TestTheMountPointOfAVolumeIsOneProgramsOwn(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	const data = machine.KubeletDir + "/pods/p/volumes/data"
	require.NoError(t, m.MkdirAll(data, 0o755))
	require.NoError(t, m.WriteFile(data+"/file", []byte("content\n"), 0o644))
	first := shell("echo here >/zz/made; while test -e /zz/file; do sleep 0.01; done")
	first.Volumes = []machine.Volume{{Source: data, Path: "/csi", Private: true}, {Source: data, Path: "/zz", Private: true}}
	p, err := m.Start(first)
	require.NoError(t, err)
	require.Eventually(t, func() bool { _, err := m.Lstat(data + "/made"); return err == nil }, time.Minute, time.Millisecond)

	second := shell("cat /zz /zy/deep; ls -d /etc/passwd /var/lib/kubelet; mkdir -p /zx")
	second.Volumes = []machine.Volume{{Source: data + "/file", Path: "/zz", Private: true}, {Source: data + "/file", Path: "/zy/deep", Private: true}}
	assert.Equal(t, "content\ncontent\n/etc/passwd\n/var/lib/kubelet\n", run(t, m, second))
	for _, made := range []string{"/zz", "/zy", "/zx"} {
		_, err := m.Lstat(made)
		assert.ErrorIs(t, err, fs.ErrNotExist, made)
	}
	mounts, err := m.Mounts()
	require.NoError(t, err)
	assert.Empty(t, mounts)
	require.NoError(t, m.Remove(data+"/file"))
	<-p.Done()
	assert.Zero(t, p.ExitCode())
}

func TestABareProgramHasNoEnvironmentOfItsParents(t *testing.T) {
	t.Setenv("CSISIM_TEST_PARENT", "x")
	onDisks(t, func(t *testing.T, m machine.Machine) {
		c := shell(`echo "$CSISIM_TEST_PARENT $OWN"; test -n "$PATH"`)
		c.Env, c.Bare = []string{"OWN=y"}, true
		assert.Equal(t, " y\n", run(t, m, c))
	})
}

func TestTheEndOfAProgramIsReported(t *testing.T) {
	for script, code := range map[string]int{"exit 3": 3, "kill -9 $$": 137} {
		onDisks(t, func(t *testing.T, m machine.Machine) {
			seen := make(chan int)
			c := shell(script)
			c.Ended = func(p *machine.Process) { seen <- p.ExitCode() }
			_, err := m.Start(c)
			require.NoError(t, err)
			assert.Equal(t, code, <-seen)
		})
	}
}
