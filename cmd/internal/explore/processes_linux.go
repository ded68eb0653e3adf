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

// processes are child processes of this program that make runs, one on each processor. On one
// processor, a run, its driver's programs and their server take turns; on two processors they
// constantly wake each other. With two processors, this increases the number of runs by a third.
type processes []*process

// process makes runs, as many at once as it has connections.
type process struct {
	ways    []*os.File // connections that no job uses yet
	command *exec.Cmd
	ended   chan struct{} // closed when the process has ended
	how     error
}

// startProcesses starts processes for a number of jobs; none on a machine with a single processor.
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

// processors returns the numbers of the processors that this process may use.
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

// startProcess starts the process of a processor, for some jobs.
func startProcess(cpu, jobs int) (*process, error) {
	command := exec.Command("/proc/self/exe")
	command.Args[0] = os.Args[0]
	command.Env = append(os.Environ(), variable+"="+strconv.Itoa(jobs), namespaces.Within())
	command.Stderr = os.Stderr
	defer func() {
		for _, theirs := range command.ExtraFiles {
			_ = theirs.Close() // the child process has its own copy
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

// leave closes the connections that no job uses.
func (p *process) leave() {
	for _, way := range p.ways {
		_ = way.Close()
	}
}

// end returns the error of a process that is about to end; nil if it continues.
func (p *process) end() error {
	select {
	case <-p.ended:
		return p.how
	case <-time.After(giveUpTime):
		return nil
	}
}

// newWay returns both ends of a connection.
func newWay() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(pair[0]), "runs"), os.NewFile(uintptr(pair[1]), "runs"), nil
}

// on starts a program on one processor. Its child processes stay on that processor.
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

// next returns an unused connection and its process.
func (all processes) next() (*process, *os.File) {
	i := slices.IndexFunc(all, func(p *process) bool { return len(p.ways) > 0 })
	way := all[i].ways[0]
	all[i].ways = all[i].ways[1:]
	return all[i], way
}

// giveUpTime is the wall time that a process has to abort its runs.
const giveUpTime = 10 * time.Second

// close ends the processes by closing their connections.
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

// Serve makes the runs that the parent process assigns, until the parent closes the connections.
func Serve(ctx context.Context) {
	jobs, _ := strconv.Atoi(os.Getenv(variable)) // written by start
	_ = os.Unsetenv(variable)                    // not for the drivers
	const first = 3                              // of exec.Cmd.ExtraFiles
	var all sync.WaitGroup
	for i := range jobs {
		_ = unix.SetNonblock(first+i, true) // a blocked read then uses no thread
		way := os.NewFile(uintptr(first+i), "runs")
		all.Go(func() { serve(ctx, way) })
	}
	all.Wait()
}
