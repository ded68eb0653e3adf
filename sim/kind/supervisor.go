package kind

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
)

// keeps is the variable of the process that outlives the tests. A test binary gets no call after
// its last test, and Ctrl-C kills it. Therefore that process creates the cluster. After the tests
// it deletes the cluster, or removes the remains of a test from it.
const keeps = "CSISIM_KEEPS_CLUSTER"

// order is an order of the tests to their supervisor.
type order struct {
	Target promotion.TargetOptions // the cluster
	Nodes  []string
	// Kubernetes is the version of a new cluster.
	Kubernetes version.Version
	// Busy is true when a test begins to use the cluster, and false when a test has ended.
	Busy bool
}

// reply is the result of an order.
type reply struct {
	// Name is the name of a kind cluster. Made means that it is deleted after the tests.
	Name  string
	Made  bool
	Error string
}

// supervisor is the supervisor of this process's tests.
type supervisor struct {
	in    io.Writer
	out   *json.Decoder
	order order
	reply reply
}

// running is the only supervisor. The test that holds the cluster uses it.
var running *supervisor

// startSupervisor starts the supervisor. It runs until this process has ended.
func startSupervisor() (*supervisor, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), keeps+"=1")
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the tests
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &supervisor{in: in, out: json.NewDecoder(out)}, command.Start()
}

// ask sends the supervisor an order.
func (s *supervisor) ask(o order) error {
	var answer reply
	err := json.NewEncoder(s.in).Encode(o)
	if err == nil {
		err = s.out.Decode(&answer)
	}
	if err != nil {
		return &sim.EnvironmentError{Doing: "ask the supervisor of the cluster", Err: err}
	}
	if answer.Error != "" {
		return errors.New(answer.Error)
	}
	s.order, s.reply = o, answer
	return nil
}

// end reports that a test has ended.
func (s *supervisor) end() error {
	o := s.order
	o.Busy = false
	return s.ask(o)
}

// begin makes the supervisor find or create the cluster with the nodes that a test needs. The
// supervisor then manages the objects of the test.
func begin(on string, s promotion.Subject) (one *supervisor, found promotion.TargetOptions, err error) {
	o, err := targetOptions(on)
	if err != nil {
		return nil, o, err
	}
	if running == nil {
		if running, err = startSupervisor(); err != nil {
			return nil, o, &sim.EnvironmentError{Doing: "start the supervisor of the cluster", Err: err}
		}
	}
	wanted := order{Target: o, Nodes: union(running.order.Nodes, s.Nodes), Kubernetes: s.Kubernetes, Busy: true}
	if running.reply.Made && s.Kubernetes != running.order.Kubernetes && o.NodeImage == "" {
		return nil, o, &sim.NotPromotedError{What: "its version of Kubernetes", Why: "the cluster is of another, which the first test has: run this one alone"}
	}
	if err := running.ask(wanted); err != nil {
		return nil, o, err
	}
	o.Progress = os.Stderr
	if running.reply.Name != "" {
		o.On = "kind:" + running.reply.Name
	}
	return running, o, nil
}

func union(names, others []string) []string {
	all := slices.Clone(names)
	for _, name := range others {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// supervise is the main function of the supervisor.
func supervise() error {
	_ = os.Unsetenv(keeps) // not for its child processes
	k := &supervising{}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if in.Decode(&o) != nil { // the tests are over
			return k.close()
		}
		answer := reply{}
		if err := k.obey(o); err != nil {
			answer.Error = err.Error()
		} else {
			answer = k.reply
		}
		// If the tests have ended, the reply is lost and the next order is missing.
		_ = out.Encode(answer)
	}
}

// supervising is the state of a supervisor.
type supervising struct {
	lock   *lock
	target *promotion.Target // nil for the cluster of a kubeconfig
	order  order
	reply  reply
}

func (k *supervising) obey(o order) (err error) {
	if k.lock == nil {
		if k.lock, err = acquire(o.Target.On); err != nil {
			return err
		}
	}
	if _, isKind := o.Target.IsKind(); isKind {
		err = k.have(o)
	}
	if err == nil {
		k.order = o
	}
	return err
}

// have finds or creates the kind cluster. It replaces a cluster that was made for other nodes.
func (k *supervising) have(o order) error {
	if k.target != nil && (!k.reply.Made || slices.Equal(o.Nodes, k.order.Nodes)) {
		return nil
	}
	if err := k.closeTarget(); err != nil {
		return err
	}
	o.Target.Progress = os.Stderr
	target, err := promotion.Open(context.Background(), []promotion.Subject{{
		Name: "the tests", Nodes: o.Nodes, Kubernetes: o.Kubernetes,
		Options: func(ctx context.Context) sim.Options { return sim.Options{Context: ctx} },
	}}, o.Target)
	if err != nil {
		return err
	}
	k.target = target
	k.reply.Name, k.reply.Made = target.Kind()
	return nil
}

func (k *supervising) closeTarget() error {
	if k.target == nil {
		return nil
	}
	target := k.target
	k.target = nil
	return target.Close()
}

// close deletes a cluster that was created for the tests. From any other, it removes the remains of
// a killed test.
func (k *supervising) close() error {
	var err error
	if k.order.Busy && !k.reply.Made {
		_, err = promotion.Clean(context.Background(), k.order.Target)
	}
	return errors.Join(err, k.closeTarget(), k.lock.release())
}
