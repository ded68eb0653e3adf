package pluginmanager

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
)

// reconcilePeriod is the interval at which the kubelet compares the desired and the actual state.
// K-REG-6
const reconcilePeriod = time.Second

// attempt is a registration that failed.
type attempt struct {
	created creation
	unheard bool // no server listened at the socket
}

// reconcile registers the plugins of the existing sockets. Its first pass is immediate. K-REG-6
func (m *Manager) reconcile(p *kernel.Process) {
	stop, err := m.watch()
	if err != nil {
		panic(fmt.Errorf("plugin manager of node %s: %w", m.kubelet.Node, err))
	}
	defer stop()
	poll := p.Tick(reconcilePeriod)
	for {
		m.pass()
		m.await(p, poll)
	}
}

// pass starts the operations that can be started. Operations on one socket never overlap. K-REG-6,
// K-REG-7
func (m *Manager) pass() {
	for _, gone := range m.actual.outdated(m.desired) {
		_ = m.run(gone.socket, func(p *kernel.Process) error { return m.unregister(p, gone) })
	}
	for _, socket := range m.actual.missing(m.desired) {
		created := m.desired[socket]
		_ = m.run(socket, func(p *kernel.Process) error { return m.register(p, socket, created) })
	}
}

// operationName is shared by registration and unregistration, so that a backoff of one also delays
// the other. K-REG-7
const operationName = "registration at"

// run starts an operation. A refusal means that a later pass tries again.
func (m *Manager) run(socket string, body func(*kernel.Process) error) error {
	return m.operations.Run(operation.Key{Volume: socket}, operationName, body)
}

// await ends at the poll after the next change, or after the end of a backoff.
func (m *Manager) await(p *kernel.Process, poll *kernel.Ticker) {
	due, work := m.nextRetry()
	const why = "changes in the plugins' directory"
	switch {
	case due == 0:
		poll.Wait(why)
	case work:
		poll.WaitUntil(why, due)
	default:
		p.IdleUntil(why, due)
		p.Wake()
		poll.Wait(why)
	}
}

// nextRetry returns the end of the first backoff, 0 if there is none. work is false if only dead
// sockets are in backoff. Their retries fail until the socket is created again, which the watcher
// reports.
func (m *Manager) nextRetry() (due time.Duration, work bool) {
	var outdated []string
	for _, gone := range m.actual.outdated(m.desired) {
		outdated = append(outdated, gone.socket)
	}
	for _, socket := range append(outdated, m.actual.missing(m.desired)...) {
		at, ok := m.operations.RetryAt(operation.Key{Volume: socket}, operationName)
		if !ok {
			continue
		}
		if last := m.attempts[socket]; !last.unheard || last.created != m.desired[socket] {
			work = true
		}
		if due == 0 || at < due {
			due = at
		}
	}
	return due, work
}
