package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// processes are further processes of this program that make runs, one on each processor: there a run, its driver's programs and what
// serves their calls take turns, where two processors wake each other all the time. It is a third more runs on two of them.
type processes []*process

// process makes runs, for as many jobs as it has ways.
type process struct {
	ways    []*os.File // those that no job has yet
	command *exec.Cmd
	ended   chan struct{} // closed when it has
	how     error
}

// startProcesses starts them for so many jobs; none on a machine with a single processor.
func startProcesses(jobs int) (all processes, err error) {
	cpus, err := processors()
	if err != nil || len(cpus) < 2 {
		return nil, err
	}
	cpus = cpus[:min(len(cpus), jobs)]
	for i, cpu := range cpus {
		p, err := startProcess(cpu, (jobs-i+len(cpus)-1)/len(cpus))
		if err != nil {
			all.close()
			return nil, fmt.Errorf("start a process that makes runs: %w", err)
		}
		all = append(all, p)
	}
	return all, nil
}

// processors are the numbers of those that this process may use.
func processors() (all []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("look which processors there are: %w", err)
	}
	for cpu := 0; len(all) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	return all, nil
}

// startProcess starts that of a processor, for some jobs.
func startProcess(cpu, jobs int) (*process, error) {
	command := exec.Command("/proc/self/exe")
	command.Args[0] = os.Args[0]
	command.Env = append(os.Environ(), variable+"="+strconv.Itoa(jobs), namespaces.Within())
	command.Stderr = os.Stderr
	defer func() {
		for _, theirs := range command.ExtraFiles {
			_ = theirs.Close() // the process has it
		}
	}()
	p := &process{command: command, ended: make(chan struct{})}
	for range jobs {
		ours, theirs, err := newWay()
		if err != nil {
			p.leave()
			return nil, err
		}
		p.ways, command.ExtraFiles = append(p.ways, ours), append(command.ExtraFiles, theirs)
	}
	if err := on(cpu, command.Start); err != nil {
		p.leave()
		return nil, err
	}
	go func() {
		p.how = command.Wait()
		close(p.ended)
	}()
	return p, nil
}

// leave closes the ways that no job has.
func (p *process) leave() {
	for _, way := range p.ways {
		_ = way.Close()
	}
}

// end is how the process has ended that is about to; nil if it does not.
func (p *process) end() error {
	select {
	case <-p.ended:
		return p.how
	case <-time.After(giveUpTime):
		return nil
	}
}

// newWay makes both ends of a way.
func newWay() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(pair[0]), "runs"), os.NewFile(uintptr(pair[1]), "runs"), nil
}

// on starts a program on one processor, where what that starts stays.
func on(cpu int, start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	return errors.Join(start(), unix.SchedSetaffinity(0, &all))
}

// next is a way that no job has yet, and the process that it leads to.
func (all processes) next() (*process, *os.File) {
	i := slices.IndexFunc(all, func(p *process) bool { return len(p.ways) > 0 })
	way := all[i].ways[0]
	all[i].ways = all[i].ways[1:]
	return all[i], way
}

// giveUpTime is how long, in wall time, a process may take to give up the runs that are under way.
const giveUpTime = 10 * time.Second

// close ends the processes: they end when their ways have.
func (all processes) close() {
	for _, p := range all {
		p.leave()
	}
	for _, p := range all {
		late := time.AfterFunc(giveUpTime, func() { _ = p.command.Process.Kill() })
		<-p.ended
		late.Stop()
	}
}

// Serve makes the runs that another process of this program assigns, until that has enough of them.
func Serve(ctx context.Context) {
	jobs, _ := strconv.Atoi(os.Getenv(variable)) // written by start
	_ = os.Unsetenv(variable)                    // not for the drivers
	const first = 3                              // of exec.Cmd.ExtraFiles
	var all sync.WaitGroup
	for i := range jobs {
		_ = unix.SetNonblock(first+i, true) // who waits there keeps no thread busy
		way := os.NewFile(uintptr(first+i), "runs")
		all.Go(func() { serve(ctx, way) })
	}
	all.Wait()
}
