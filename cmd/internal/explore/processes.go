package explore

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"os"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

// variable is the environment variable that this program sets in child processes that make runs.
// Its value is the number of jobs of the process.
const variable = "CSISIM_RUNS"

// MakesRuns reports whether this process was started to make runs with Serve.
func MakesRuns() bool { return os.Getenv(variable) != "" }

// task is the first message to a process for each job.
type task struct {
	File      string
	Text      []byte
	Space     fault.Space
	WorkDir   string
	Isolation sim.Isolation
	Patience  time.Duration
	Wait      time.Duration // RunOptions.WaitForDriver
	HostPaths []string
	Strict    bool
	Search    []byte // for explore.NewMaker
}

func (t *task) options() Options {
	return Options{Space: t.Space, Run: scenario.RunOptions{
		WorkDir: t.WorkDir, Isolation: t.Isolation, Patience: t.Patience, WaitForDriver: t.Wait, HostPaths: t.HostPaths, Strict: t.Strict,
	}}
}

// answer is the answer to each assigned run.
type answer struct {
	Made    []byte
	Noticed []noticed
	Err     string
	Machine bool // the machine could not make the run
}

// startProcesses starts the processes that make the runs. It returns nil if this process makes the
// runs itself.
func (s *Search) startProcesses() (processes, error) {
	o := s.options
	if !o.Processes || o.Jobs < 2 || o.Strategy == explore.Exhaustive || !s.subject.scenario.HasPrograms() || !namespaces.Entered() {
		return nil, nil
	}
	return startProcesses(o.Jobs)
}

// elsewhere returns a function that connects to a process for each job.
func (s *Search) elsewhere(p processes) func(search []byte) (explore.Elsewhere, error) {
	if p == nil {
		return nil
	}
	return func(search []byte) (explore.Elsewhere, error) {
		o := s.options
		process, file := p.next()
		w := &way{process: process, file: file, notice: s.notice, write: gob.NewEncoder(file), read: gob.NewDecoder(file)}
		return w, w.send(task{s.file, s.text, o.Space, o.Run.WorkDir, o.Run.Isolation, o.Run.Patience, o.Run.WaitForDriver, o.Run.HostPaths, o.Run.Strict, search})
	}
}

// way is a connection to a process that makes runs.
type way struct {
	process *process
	file    *os.File
	notice  func(noticed)
	write   *gob.Encoder
	read    *gob.Decoder
}

// Make makes a run in the process. If ctx ends, the run is aborted.
func (w *way) Make(ctx context.Context, assigned []byte) ([]byte, error) {
	defer context.AfterFunc(ctx, w.Close)()
	var a answer
	err := w.send(assigned)
	if err == nil {
		err = w.read.Decode(&a)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &sim.EnvironmentError{Doing: "make runs: a process of csisim has ended", Err: cmp.Or(w.process.end(), err)}
	}
	for _, n := range a.Noticed {
		w.notice(n)
	}
	err = errors.New(a.Err)
	switch {
	case a.Machine:
		return nil, &sim.EnvironmentError{Doing: "make a run", Err: err}
	case a.Err != "":
		return nil, err
	}
	return a.Made, nil
}

func (w *way) send(what any) error { return w.write.Encode(what) }

// Close closes the connection.
func (w *way) Close() { _ = w.file.Close() } // the process on the other side then stops reading

// serve makes the runs of one job until its connection is closed.
func serve(ctx context.Context, file *os.File) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer file.Close()
	read, write := gob.NewDecoder(file), gob.NewEncoder(file)
	var t task
	if read.Decode(&t) != nil {
		return
	}
	var since []noticed
	maker, err := t.maker(func(n noticed) { since = append(since, n) })
	assigned := make(chan []byte)
	go func() {
		defer stop() // this aborts the run that is under way
		defer close(assigned)
		for {
			var next []byte
			if read.Decode(&next) != nil {
				return
			}
			assigned <- next
		}
	}()
	for next := range assigned {
		var a answer
		if err == nil {
			a.Made, err = maker.Make(ctx, next)
		}
		if err != nil {
			var environment *sim.EnvironmentError
			a.Err, a.Machine = err.Error(), errors.As(err, &environment)
		}
		a.Noticed, since = since, nil
		if write.Encode(a) != nil {
			stop()
		}
	}
	if maker != nil {
		maker.Close()
	}
}

func (t *task) maker(notice func(noticed)) (*explore.Maker, error) {
	subject, err := newSubject(t.File, t.Text, t.options())
	if err != nil {
		return nil, err
	}
	subject.notice = notice
	return explore.NewMaker(subject, t.Search)
}
