package machine_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/machine"
)

// inWords describes system calls, one a line.
func inWords(calls []machine.SystemCall) (lines []string) {
	for _, c := range calls {
		line := c.Name + " " + strings.TrimPrefix(c.Path[strings.LastIndex(c.Path, "/kubelet")+1:], "kubelet/")
		if c.From != "" {
			line += " from " + c.From[strings.LastIndex(c.From, "/")+1:]
		}
		switch {
		case c.Failed:
			line += " failed"
		case c.Held:
			line += " held"
		}
		lines = append(lines, line)
	}
	return lines
}

func watchCalls(p *machine.Process, i machine.Interference) *machine.CallWatch {
	w := p.NewCallWatch(i)
	w.Begin()
	return w
}

func TestSystemCallsOfAProgramAreSeenWithTheirPaths(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		p, begin := followed(t, m, `mkdir d; echo a >d/x; sync -d d/x; mv -T d/x y; ln y z; ln -s y s; rm z; truncate -s 0 y; (echo b >>y) 2>/dev/null; rmdir d; echo c >/dev/null`)
		w := watchCalls(p, machine.Interference{})
		begin()
		<-p.Done()
		w.End()
		assert.Equal(t, []string{
			"mkdir d", "open d/x", "write d/x", "fsync d/x", "rename y from x", "link z from y", "symlink s from y", "unlink z",
			"open y", "truncate y", "open y", "rmdir d",
		}, inWords(w.Seen()))
	})
}

func TestSystemCallsThatMakeAFileAreKnown(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		p, begin := followed(t, m, `mkdir d; (mkdir d) 2>/dev/null; echo a >x; echo b >x; mv -T x y; echo c >z; mv -T z y; rm y`)
		w := watchCalls(p, machine.Interference{})
		begin()
		<-p.Done()
		w.End()
		var made []string
		for i, c := range w.Seen() {
			if c.Makes {
				made = append(made, inWords(w.Seen()[i:i+1])...)
			}
		}
		assert.Equal(t, []string{"mkdir d", "open x", "rename y from x", "open z"}, made)
	})
}

func TestAProgramStandsStillJustBeforeASystemCall(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		const script = `mkdir d; mkdir e; echo a >d/x; mv -T d/x y`
		for _, c := range []struct {
			at   machine.Point
			want string
		}{
			{machine.Point{Name: "mkdir"}, ""},
			{machine.Point{Name: "mkdir", Nth: 2}, "d"},
			{machine.Point{Name: "mkdir", Path: "e"}, "d"},
			{machine.Point{Name: "open", Path: "d/*"}, "d e"},
			{machine.Point{Name: machine.Write, Nth: 1}, "d e"},
			{machine.Point{Name: "rename", Path: "*/x"}, "d e"},
		} {
			p, begin := followed(t, m, script)
			w := watchCalls(p, machine.Interference{At: c.at})
			begin()
			select {
			case <-w.Reached:
			case <-p.Done():
				t.Fatalf("the program made no %+v", c.at)
			}
			seen := w.Seen()
			assert.True(t, seen[len(seen)-1].Held)
			assert.NoError(t, p.Kill())
			w.End()
			assert.Equal(t, c.want, files(t, m), "%+v", c.at)
			_, err := m.Lstat(machine.KubeletDir + "/d/x")
			assert.Equal(t, c.at.Name == machine.Write || c.at.Name == "rename", err == nil, "%+v", c.at)
			for _, made := range []string{"begin", "d", "e"} {
				assert.NoError(t, m.RemoveAll(machine.KubeletDir+"/"+made))
			}
		}
	})
}

func TestAStoppedProgramContinues(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		p, begin := followed(t, m, `mkdir d; echo a >x`)
		w := watchCalls(p, machine.Interference{At: machine.Point{Name: machine.Write}})
		begin()
		<-w.Reached
		w.End()
		w.End()
		<-p.Done()
		assert.Equal(t, "d x=a", files(t, m))
	})
}

func TestSystemCallsFail(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		const script = `export LC_ALL=C; for d in a b c; do mkdir $d; done; mkdir a d`
		p, begin := followed(t, m, script)
		w := watchCalls(p, machine.Interference{At: machine.Point{Name: "mkdir", Nth: 2}, Fails: syscall.ENOSPC})
		begin()
		<-p.Done()
		assert.Equal(t, []string{"mkdir a", "mkdir b failed", "mkdir c", "mkdir a", "mkdir d"}, inWords(w.Seen()))
		assert.Contains(t, log(t, p), "mkdir: cannot create directory 'b': No space left on device\n")
		assert.Equal(t, "a c d", files(t, m))

		p, begin = followed(t, m, script)
		w = watchCalls(p, machine.Interference{At: machine.Point{Name: "mkdir", Path: "?"}, Fails: syscall.EROFS, Times: 2})
		begin()
		<-p.Done()
		assert.Equal(t, []string{"mkdir a failed", "mkdir b failed", "mkdir c", "mkdir a", "mkdir d"}, inWords(w.Seen()))
		for _, made := range []string{"begin", "a", "b", "c", "d"} {
			assert.NoError(t, m.RemoveAll(machine.KubeletDir+"/"+made))
		}
	})
}

// mount(8) has two ways to mount; both are "mount".
func TestMountsOfOtherProgramsAreSeen(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	p, begin := followed(t, m, `mkdir a; mount -t tmpfs none a || echo refused; mount -t tmpfs none a; umount a`)
	w := watchCalls(p, machine.Interference{At: machine.Point{Name: "mount", Path: "a"}, Fails: syscall.EIO, Times: 1})
	begin()
	<-p.Done()
	assert.Contains(t, log(t, p), "refused")
	var mounting []string
	for _, line := range inWords(w.Seen()) {
		if strings.HasPrefix(line, "mount ") || strings.HasPrefix(line, "umount2 ") {
			mounting = append(mounting, strings.TrimSuffix(line, " from none"))
		}
	}
	assert.Equal(t, []string{"mount a from none failed", "mount a", "umount2 a"}, mounting)
}
