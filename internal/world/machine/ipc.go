package machine

import (
	"os"
	"sync"
)

// IPC is a namespace of System V IPC and POSIX message queues, such as that of a pod. A machine in
// a namespace has one of its own.
type IPC struct {
	namespace *os.File
	closed    sync.Once
}

// NewIPC makes a namespace. It lasts until Close, or csisim's end, and the end of the last program
// in it. It fails with ErrNoPermission where csisim may not make one.
func NewIPC() (*IPC, error) {
	i := &IPC{}
	made, err := startThread(func() (err error) {
		i.namespace, err = unshareIPC()
		return err
	})
	if err != nil {
		return nil, err
	}
	made.stop() // the file keeps the namespace
	return i, nil
}

// Close ends the namespace after its last program.
func (i *IPC) Close() { i.closed.Do(func() { _ = i.namespace.Close() }) }
