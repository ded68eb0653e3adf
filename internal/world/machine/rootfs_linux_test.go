package machine_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// image makes a root directory with a shell, a few programs, and its own users.
func image(t *testing.T) string {
	dir := shortDir(t)
	for _, name := range []string{"sh", "id", "cat", "ls", "stat", "touch", "grep", "chroot", "mknod", "mount"} {
		program, err := exec.LookPath(name)
		require.NoError(t, err)
		install(t, dir, program, "/bin/"+name)
		needed, err := exec.Command("ldd", program).Output()
		require.NoError(t, err)
		for _, library := range regexp.MustCompile(`/\S+`).FindAllString(string(needed), -1) {
			install(t, dir, library, library)
		}
	}
	require.NoError(t, os.MkdirAll(dir+"/etc", 0o755))
	require.NoError(t, os.WriteFile(dir+"/etc/passwd", []byte("root:x:0:0::/root:/bin/sh\nweb:x:1000:1001::/home/web:/bin/sh\n"), 0o644))
	require.NoError(t, os.WriteFile(dir+"/etc/group", []byte("root:x:0:\nweb:x:1001:\nmedia:x:1002:web,other\n"), 0o644))
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

func install(t *testing.T, dir, from, at string) {
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(dir+at), 0o755))
	require.NoError(t, os.WriteFile(dir+at, content, 0o755))
}

func inRoot(root machine.Root, script string) machine.Command {
	return machine.Command{Path: "sh", Args: []string{"-c", script}, Env: []string{"PATH=/bin"}, Bare: true, Root: &root}
}

// A program with its own root has access only to that root, the kernel's files and its volumes. Its
// writes are discarded when it ends.
func TestAProgramHasASeparateRoot(t *testing.T) {
	needRoot(t)
	m, dir := newNamespace(t), image(t)
	defer m.Close()
	mkdirs(t, m, volume)
	c := inRoot(machine.Root{Dir: dir, Files: map[string]string{"/etc/hosts": "of the pod\n"}}, `
		cd / && ls -d bin dev etc proc tmp var/lib/kubelet usr/share 2>/dev/null; cat /etc/hosts
		echo x >/new && echo x >/etc/passwd && echo x >/data/kept && echo x >/dev/null && ls /dev | grep -c . && ls /proc/1/status
		ls /csi /var/lib/kubelet 2>/dev/null; true`)
	c.Volumes = []machine.Volume{{Source: volume, Path: "/data"}}
	first := run(t, m, c)
	assert.Regexp(t, `(?s)^bin\ndev\netc\nproc\nof the pod\n\d+\n/proc/1/status\n$`, first)
	assert.NoFileExists(t, dir+"/new")
	assert.NoDirExists(t, dir+"/data", "the image stays as it is")
	assert.Equal(t, "root:x:0:0::/root:/bin/sh\n", run(t, m, inRoot(machine.Root{Dir: dir}, "grep root /etc/passwd; ls /new 2>/dev/null; true")))
	text, err := m.ReadFile(volume + "/kept")
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text))
	mounts, err := m.Mounts()
	require.NoError(t, err)
	assert.Empty(t, mounts)
}

// A symlink of an image is resolved in the image, never on the machine.
func TestSymlinksOfAnImageStayInIt(t *testing.T) {
	needRoot(t)
	m := newNamespace(t)
	defer m.Close()
	victim := machine.KubeletDir + "/victim"
	mkdirs(t, m, victim, volume)
	require.NoError(t, m.WriteFile(victim+"/hosts", []byte("the node's\n"), 0o644))
	for name, to := range map[string]string{"out": victim, "above": "/.." + victim, "relative": "../../.." + victim, "process 1": "/proc/1/root" + victim, "kernel": "/proc"} {
		dir := image(t)
		require.NoError(t, os.RemoveAll(dir+"/etc"))
		require.NoError(t, os.Symlink(to, dir+"/etc"))
		root := machine.Root{Dir: dir, Files: map[string]string{"/etc/hosts": "of the pod\n"}}
		assert.Equal(t, "of the pod\n", run(t, m, inRoot(root, "cat /etc/hosts")), name)
		text, err := m.ReadFile(victim + "/hosts")
		require.NoError(t, err)
		assert.Equal(t, "the node's\n", string(text), name)
	}
	dir := image(t)
	require.NoError(t, os.MkdirAll(dir+"/usr/etc", 0o755))
	require.NoError(t, os.Rename(dir+"/etc/passwd", dir+"/usr/etc/passwd"))
	require.NoError(t, os.RemoveAll(dir+"/etc"))
	require.NoError(t, os.Symlink("/usr/etc", dir+"/etc"))
	root := machine.Root{Dir: dir, Files: map[string]string{"/etc/hosts": "of the pod\n"}}
	assert.Equal(t, "of the pod\nroot:x:0:0::/root:/bin/sh\n", run(t, m, inRoot(root, "cat /usr/etc/hosts; grep root /etc/passwd")))
}

// A mount in an image never covers a directory of the machine.
func TestMountsOfAnImageStayInIt(t *testing.T) {
	needRoot(t)
	m := newNamespace(t)
	defer m.Close()
	victim := machine.KubeletDir + "/victim"
	mkdirs(t, m, victim, volume, staging)
	run(t, m, shell("mount -t tmpfs mine "+staging))
	for _, name := range []string{"dev", "proc", "sys"} {
		dir := image(t)
		require.NoError(t, os.Symlink(victim, dir+"/"+name))
		script := "[ -d /" + name + " ] && [ ! -L /" + name + " ] && ls -d /dev/null /proc/1 /sys/kernel; ls -A " + victim + " 2>/dev/null; true"
		c := inRoot(machine.Root{Dir: dir}, "while :; do :; done")
		assert.Equal(t, "/dev/null\n/proc/1\n/sys/kernel\n", run(t, m, inRoot(machine.Root{Dir: dir}, script)), name)
		host, err := m.Start(c)
		require.NoError(t, err)
		mounts, err := m.Mounts()
		require.NoError(t, err)
		assert.Len(t, mounts, 1, "only the machine's own: %s", name)
		require.NoError(t, host.Kill())
	}
	dir := image(t)
	require.NoError(t, os.Symlink("/.."+victim, dir+"/data"))
	require.NoError(t, os.MkdirAll(dir+victim, 0o755))
	c := inRoot(machine.Root{Dir: dir}, "echo x >/data/kept")
	c.Volumes = []machine.Volume{{Source: volume, Path: "/data"}}
	run(t, m, c)
	text, err := m.ReadFile(volume + "/kept")
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text))
	_, err = m.ReadFile(victim + "/kept")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestAProgramIsTheUserOfItsRoot(t *testing.T) {
	needRoot(t)
	m, dir := newNamespace(t), image(t)
	defer m.Close()
	if namespaces.Rootless() {
		t.Skip("an ordinary user has one user only")
	}
	for user, want := range map[string]string{
		"":          "uid=0(root) gid=0(root) groups=0(root) /root",
		"web":       "uid=1000(web) gid=1001(web) groups=1001(web),1002(media),2000 /home/web",
		"1000":      "uid=1000(web) gid=1001(web) groups=1001(web),1002(media),2000 /home/web",
		"1000:0":    "uid=1000(web) gid=0(root) groups=0(root),1002(media),2000 /home/web",
		"web:media": "uid=1000(web) gid=1002(media) groups=1002(media),2000 /home/web",
		"77":        "uid=77 gid=0(root) groups=0(root),2000 /",
	} {
		root := machine.Root{Dir: dir, User: user}
		if user != "" {
			root.Groups = []uint32{2000}
		}
		assert.Equal(t, want+"\n", run(t, m, inRoot(root, "echo $(id) $HOME")), "user %q", user)
	}
	_, err := m.Start(inRoot(machine.Root{Dir: dir, User: "nobody"}, "true"))
	assert.ErrorContains(t, err, "unable to find user nobody: no matching entries in passwd file")
	require.NoError(t, os.WriteFile(dir+"/etc/passwd", []byte(strings.Repeat("x", 1<<20)+"\nweb:x:1000:1001::/home/web:/bin/sh\n"), 0o644))
	_, err = m.Start(inRoot(machine.Root{Dir: dir, User: "web"}, "true"))
	assert.ErrorContains(t, err, "read /etc/passwd: bufio.Scanner: token too long")
}

func TestARootLimitsPrivileges(t *testing.T) {
	needRoot(t)
	m, dir := newNamespace(t), image(t)
	defer m.Close()
	try := func(r machine.Root, script string) string {
		r.Dir = dir
		return strings.TrimSpace(run(t, m, inRoot(r, "{ "+script+"; } >/dev/null 2>&1 && echo done || echo refused")))
	}
	assert.Equal(t, "refused", try(machine.Root{ReadOnly: true}, "touch /x"))
	assert.Equal(t, "done", try(machine.Root{}, "touch /x"))
	assert.Equal(t, "refused", try(machine.Root{}, "chroot / true"))
	assert.Equal(t, "done", try(machine.Root{Capabilities: []string{"SYS_CHROOT"}}, "chroot / sh -c :"))
	assert.Equal(t, "done", try(machine.Root{Privileged: true}, "chroot / sh -c :"))
	assert.Equal(t, "done", try(machine.Root{NoNewPrivileges: true}, "grep -x 'NoNewPrivs:.1' /proc/self/status"))

	beside := inRoot(machine.Root{Dir: dir, User: "1000"}, "sleep 60 & wait")
	beside.Args = []string{"-c", "while :; do :; done"}
	host, err := m.Start(beside)
	require.NoError(t, err)
	if !namespaces.Rootless() {
		c := machine.Command{Path: "id", Args: []string{"-u"}, Env: beside.Env, Bare: true, Dir: "/", Beside: host}
		assert.Equal(t, "1000\n", run(t, m, c), "a command in the container is its user's")
	}
	require.NoError(t, host.Kill())
}

// An unprivileged program cannot use a device node that it creates, in its root or in a volume. The
// devices of a container work, and so does a volume that is a device.
func TestARootOpensNoDevices(t *testing.T) {
	needRoot(t)
	m, dir := newNamespace(t), image(t)
	defer m.Close()
	mkdirs(t, m, volume)
	try := func(r machine.Root, script string, volumes ...machine.Volume) string {
		r.Dir = dir
		c := inRoot(r, "{ "+script+"; } >/dev/null 2>&1 && echo done || echo refused")
		c.Volumes = append(volumes, machine.Volume{Source: volume, Path: "/data"})
		return strings.TrimSpace(run(t, m, c))
	}
	maker := machine.Root{Capabilities: []string{"MKNOD"}}
	for _, place := range []string{"/d", "/data/d", "/dev/d", "/dev/shm/d"} {
		assert.Equal(t, "refused", try(machine.Root{}, "mknod "+place+" c 1 5 && cat <"+place+" | { read x; }"), place)
		assert.Equal(t, "refused", try(maker, "mknod "+place+" c 1 3 && cat "+place), place)
	}
	assert.Equal(t, "done", try(machine.Root{}, "cat /dev/null; echo x >/dev/full || echo x >/dev/null"))
	zero := machine.Volume{Source: "/dev/null", Path: "/dev/block", Private: true}
	assert.Equal(t, "refused", try(machine.Root{}, "cat /dev/block", zero), "a device that is no volume")
	zero.Device = true
	assert.Equal(t, "done", try(machine.Root{}, "cat /dev/block", zero))
	if !namespaces.Rootless() {
		assert.Equal(t, "done", try(machine.Root{Privileged: true}, "mknod /data/null c 1 3 && cat /data/null"))
	}
}

func TestAProgramMissingInTheRootIsAnError(t *testing.T) {
	needRoot(t)
	m, dir := newNamespace(t), image(t)
	defer m.Close()
	for program, want := range map[string]string{
		"no-such":    `exec: "no-such": executable file not found in $PATH`,
		"/bin/nsent": `exec: "/bin/nsent": no such file or directory`,
		"/bin":       `exec: "/bin": is a directory`,
	} {
		c := inRoot(machine.Root{Dir: dir}, "")
		c.Path = program
		_, err := m.Start(c)
		assert.ErrorContains(t, err, want)
	}
	_, err := m.Start(inRoot(machine.Root{Dir: "/no/such/image"}, ""))
	assert.ErrorContains(t, err, "/no/such/image: no such file or directory")
}
