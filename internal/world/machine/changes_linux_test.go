package machine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// followed starts a program that waits for begin, then runs a script in the kubelet's directory.
func followed(t *testing.T, m machine.Machine, script string) (p *machine.Process, begin func()) {
	require.NoError(t, m.RemoveAll(machine.KubeletDir+"/begin"), "an earlier program's start must not begin this one")
	c := shell(`cd ` + m.ProgramPath(machine.KubeletDir) + `; while [ ! -e begin ]; do sleep 0.01; done; ` + script)
	c.Followed, c.Stdout = true, filepath.Join(t.TempDir(), "out.log")
	c.Stderr = c.Stdout
	p, err := m.Start(c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Kill() })
	if h := p.HoldAfter(0); h == nil {
		t.Skip("this system does not show how programs change files")
	} else {
		h.Release()
	}
	return p, func() { require.NoError(t, m.WriteFile(machine.KubeletDir+"/begin", nil, 0o600)) }
}

// files returns the files that the script has created in the kubelet's directory, with their
// contents.
func files(t *testing.T, m machine.Machine) (all string) {
	entries, err := m.ReadDir(machine.KubeletDir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() == "begin" {
			continue
		}
		all += " " + e.Name()
		if !e.IsDir() {
			data, err := m.ReadFile(machine.KubeletDir + "/" + e.Name())
			require.NoError(t, err)
			all += "=" + strings.TrimSpace(string(data))
		}
	}
	return strings.TrimSpace(all)
}

func TestAProgramKilledAfterSomeChangesHasMadeExactlyThem(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		const script = `mkdir made; echo old >state; echo new >state; cat state >/dev/null; echo more >>state; mv -T state made/state; rm -r made`
		for after, want := range []string{
			0: "",
			1: "made",
			2: "made state=",
			3: "made state=old",
			4: "made state=", // emptied, and not written again
			5: "made state=new\nmore",
			6: "made", // its content equals that of made
		} {
			p, begin := followed(t, m, script)
			h := p.HoldAfter(after)
			begin()
			select {
			case <-h.Reached:
			case <-p.Done():
				t.Fatalf("the program ended before it had made %d changes", after)
			}
			require.NoError(t, p.Kill())
			assert.Equal(t, want, files(t, m), "after %d changes", after)
			require.NoError(t, m.RemoveAll(machine.KubeletDir+"/begin"))
			require.NoError(t, m.RemoveAll(machine.KubeletDir+"/made"))
			require.NoError(t, m.RemoveAll(machine.KubeletDir+"/state"))
		}
	})
}

func TestAReleasedProgramContinues(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		for after := range 8 {
			p, begin := followed(t, m, `echo a >x; mkdir d; (set -C; echo b >d/y); echo c >x; mv d/y y; rmdir d`)
			h := p.HoldAfter(after)
			begin()
			<-h.Reached
			select {
			case <-p.Done():
				t.Fatal("a program that is held ended")
			default:
			}
			h.Release()
			h.Release()
			<-p.Done()
			assert.Equal(t, "exit status 0", p.Exit())
			assert.Equal(t, "x=c y=b", files(t, m), "held after %d changes", after)
			for _, made := range []string{"begin", "x", "y"} {
				require.NoError(t, m.Remove(machine.KubeletDir+"/"+made))
			}
		}
	})
}

func TestAContainerDoesNotWaitForAStoppedProgramWithARunningFUSEDaemon(t *testing.T) {
	if _, err := exec.LookPath("bindfs"); err != nil || machine.FUSERefused() != nil {
		t.Skip("bindfs and /dev/fuse are needed")
	}
	m := newNamespace(t)
	defer m.Close()
	p, begin := followed(t, m, `mkdir real seen; bindfs real seen; touch mounted; while [ ! -e begin-again ]; do sleep 0.01; done; mkdir late`)
	begin()
	require.Eventually(t, func() bool {
		_, err := m.Lstat(machine.KubeletDir + "/mounted")
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	h := p.HoldAfter(0)
	require.NoError(t, m.WriteFile(machine.KubeletDir+"/seen/data", []byte("x"), 0o600), "the daemon makes the file")
	require.NoError(t, m.WriteFile(machine.KubeletDir+"/begin-again", nil, 0o600))
	<-h.Reached
	assert.NotContains(t, files(t, m), "late", "the program itself is held")
	h.Release()
	<-p.Done()
	assert.Contains(t, files(t, m), "late")
}

func TestAnUnmountIsRefusedOnce(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	p, begin := followed(t, m, `mkdir a; mount -t tmpfs none a; umount a; echo first $?; umount a; echo second $?`)
	end := p.RefuseUnmount()
	begin()
	<-p.Done()
	refused, lazily := end()
	assert.True(t, refused)
	assert.Empty(t, lazily)
	assert.Equal(t, "umount: /var/lib/kubelet/a: target is busy.\nfirst 32\nsecond 0\n", log(t, p))

	p, begin = followed(t, m, `umount a`)
	refused, _ = p.RefuseUnmount()()
	assert.False(t, refused, "nothing was unmounted")
	begin()
	<-p.Done()
}

func TestALazyUnmountIsPermittedAndReported(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	p, begin := followed(t, m, `mkdir a; mount -t tmpfs none a; umount -l a; echo $?`)
	end := p.RefuseUnmount()
	begin()
	<-p.Done()
	refused, lazily := end()
	assert.False(t, refused)
	assert.Equal(t, machine.KubeletDir+"/a", lazily)
	assert.Equal(t, "0\n", log(t, p))
}

func log(t *testing.T, p *machine.Process) string {
	data, err := os.ReadFile(p.Stdout)
	require.NoError(t, err)
	return string(data)
}
