package check

import (
	"fmt"
	"path"
	"slices"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
)

// point is the nth system call of its name that a driver makes in a call of a volume's life.
type point struct {
	name string
	nth  int
}

func (p point) String() string { return fmt.Sprintf("syscall: %s, nth: %d", p.name, p.nth) }

// mostPoints is the highest number of system calls of one CSI call that are tried, each with a life
// of a volume. If copying a file takes a thousand calls, only some of them are tried.
const mostPoints = 10

// failures are the errors of system calls on a healthy node: a disk is full or broken, or a file or
// mount is in use.
var failures = map[string]string{
	"mount": "EIO", "umount2": "EBUSY", "mkdir": "ENOSPC", "mknod": "ENOSPC", "open": "ENOSPC", "symlink": "ENOSPC", "link": "ENOSPC", "rename": "EIO",
	"unlink": "EIO", "rmdir": "EBUSY", "truncate": "ENOSPC", "fallocate": "ENOSPC", "pwrite": "ENOSPC", "copy_file_range": "ENOSPC", "fsync": "EIO", "ioctl": "EBUSY",
}

// systemCalls kills the driver just before each system call that changes files, and lets each of
// them fail once.
func systemCalls(p *plan) {
	needs := []string{p.needsOurs(), p.needsProgram()}
	for _, e := range p.effects() {
		points := p.facts.SystemCalls[e.call]
		if len(points) == 0 && first(needs...) == "" && p.facts.NoUnmounts == "" {
			continue // it changes nothing
		}
		description := fmt.Sprintf("The driver is killed before each change of files that it makes in %s; then each of them fails once.", e.call)
		parts := faultsAt(e, chosen(points, mostPoints))
		p.tryEach("system-calls", e.call, description, append(slices.Clone(needs), e.missing), parts, func(s *script) {
			s.unmounts = true
			for _, part := range parts {
				part.compose(s)
			}
		})
	}
}

// faultsAt are the faults at the system calls of a CSI call, each with a life of a volume.
func faultsAt(e effect, points []point) (all []part) {
	for i, at := range points {
		kill, fail := fmt.Sprintf("kill-%d", i+1), fmt.Sprintf("fail-%d", i+1)
		all = append(all, part{kill, fmt.Sprintf("The driver is killed in %s before %s.", e.call, at.words()), func(s *script) {
			s.unmounts = true
			s.madeBefore(e)
			s.fault("name: %s, call: %s, kill: driver, before: {%v}, restartAfter: 1s", kill, e.call, at)
			s.lifeWith(e)
			s.step("clear-fault: %s", kill)
		}})
		errno := failures[at.name]
		if errno == "" {
			continue
		}
		all = append(all, part{fail, fmt.Sprintf("In %s %s fails with %s.", e.call, at.words(), errno), func(s *script) {
			s.unmounts = true
			s.madeBefore(e)
			s.usedBefore(e, func() { s.fault("name: %s, call: %s, %v, fails: %s, times: 1", fail, e.call, at, errno) })
			s.step("clear-fault: %s", fail)
		}})
	}
	return all
}

// madeBefore makes and deletes a volume before a fault in CreateVolume. Objects that the driver
// then makes in a failing call belong to that volume.
func (s *script) madeBefore(e effect) {
	if e.call == "CreateVolume" && !s.made {
		s.made = true
		s.life([]claim{data}, web(nodeA, data))
	}
}

// words describes the system call in a sentence.
func (p point) words() string {
	if p.nth == 1 {
		return "the first " + p.name
	}
	return fmt.Sprintf("%s number %d", p.name, p.nth)
}

// usedBefore is the life of a volume in which a system call fails. If the CSI call makes the volume
// usable, its system call fails only after a pod has used the volume. A driver may treat a volume
// that it cannot mount as an empty volume.
func (s *script) usedBefore(e effect, fails func()) {
	if e.undoes() || e.call == "CreateVolume" {
		fails()
		s.lifeWith(e)
		return
	}
	after := pod{name: "after", node: nodeA, claims: []claim{data}}
	s.up([]claim{data}, web(nodeA, data))
	s.end(web(nodeA, data))
	s.detached()
	fails()
	s.run(after)
	s.down([]claim{data}, after)
}

// chosen returns at most the given number of points, spread from the first to the last.
func chosen(all []point, most int) []point {
	if len(all) <= most {
		return all
	}
	var some []point
	for i := range most {
		some = append(some, all[i*(len(all)-1)/(most-1)])
	}
	return some
}

// systemCallsOf returns the system calls of the driver in some calls. For each method, it takes the
// call with the most system calls.
func systemCallsOf(r *scenario.Result, counts func(*trace.Event) bool) (most map[string][]point) {
	most = map[string][]point{}
	methods, made := map[uint64]string{}, map[uint64][]point{}
	for _, e := range r.Trace {
		if e.Kind == trace.Call && counts(e) {
			methods[e.Seq] = path.Base(e.Method)
		}
		if e.Kind != trace.SystemCall || methods[e.Cause] == "" {
			continue
		}
		method, points := methods[e.Cause], append(made[e.Cause], point{e.Method, 1})
		for _, p := range made[e.Cause] {
			if p.name == e.Method {
				points[len(points)-1].nth++
			}
		}
		made[e.Cause] = points
		if len(points) > len(most[method]) {
			most[method] = points
		}
	}
	return most
}
