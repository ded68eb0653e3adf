package machine

import (
	"os"
	"sync"
)

// IPC is a namespace of System V IPC and POSIX message queues, such as that of a pod. A machine in
// a namespace has a separate IPC namespace.
type IPC struct {
	namespace *os.File
	closed    sync.Once
}

// NewIPC makes a namespace. It exists until Close, or csisim's end, and the end of the last program
// in it. It fails with ErrNoPermission if csisim may not create a namespace.
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
